"""What a page of another origin can make this user's browser send: each of it ends at the guard, and no handler runs.

A real Chromium opens a page from another port of this machine, and one from a foreign name that leads here.
"""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import attrs
import pytest
import trio
from playwright.sync_api import Browser

from hub.web import app, guard
from tests.hub.web.fake import Fake, running
from tests.waiting import until

VECTORS = {
    "fetch": "fetch(to('/api/status'))",
    "no-cors": "fetch(to('/api/status'), {mode: 'no-cors'})",
    "no-cors-page": "fetch(to('/'), {mode: 'no-cors', headers: {Accept: 'text/html'}})",
    "text-post": "fetch(to('/api/run'), {method: 'POST', mode: 'no-cors', body: '{\"task\": \"x\"}'})",
    "json-post": "fetch(to('/api/run'), {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})",
    "project-header": "fetch(to('/api/handoff'), {method: 'POST', headers: {'Hub-Project': 'x'}})",
    "bare-post": "fetch(to('/api/session/stop'), {method: 'POST', mode: 'no-cors'})",
    "credentials": "fetch(to('/api/status'), {credentials: 'include'})",
    "put": "fetch(to('/api/run'), {method: 'PUT'})",
    "blob-post": "fetch(to('/api/run'), {method: 'POST', mode: 'no-cors', body: new Blob(['{}'])})",
    "beacon": "navigator.sendBeacon(to('/api/session/stop'), '')",
    "xhr": "new Promise(r => {const x = new XMLHttpRequest(); x.onloadend = r; x.open('POST', to('/api/handoff')); x.send()})",
    "form": "form('application/x-www-form-urlencoded', 'post', '/api/run')",
    "form-text": "form('text/plain', 'post', '/api/run')",
    "form-multipart": "form('multipart/form-data', 'post', '/api/run')",
    "form-get": "form('', 'get', '/events')",
    "image": "element('img', 'src', '/api/status')",
    "script": "element('script', 'src', '/static/hub.js')",
    "style": "element('link', 'href', '/static/hub.css', {rel: 'stylesheet'})",
    "frame": "element('iframe', 'src', '/')",
    "object": "element('object', 'data', '/approvals')",
    "video": "element('video', 'src', '/api/status')",
    "module": "import(to('/static/hub.js'))",
    "websocket": "new Promise(r => {new WebSocket(to('/ws').replace('http', 'ws')).onerror = r})",
    "events": "new Promise(r => {const e = new EventSource(to('/api/events/stream')); e.onerror = () => {e.close(); r()}})",
    "sandboxed": "frame(`<script>fetch('${to('/api/status')}')</` + 'script>')",
    "refresh": "frame(`<meta http-equiv=refresh content=\"0;url=${to('/')}\">`, '')",
    "window": "Promise.resolve(window.open(to('/approvals')))",
}
"""Each with a mark in its address, by which the guard's word on it is found."""
HELP = """
const to = (path) => `http://127.0.0.1:${PORT}${path}?v=${NAME}`;
const settled = (node) => new Promise(r => {node.onload = node.onerror = node.onloadedmetadata = r});
const element = (kind, key, path, more = {}) => {
  const node = Object.assign(document.createElement(kind), more); const end = settled(node);
  node[key] = to(path); document.body.append(node); return end};
const frame = (html, sandbox = 'allow-scripts') => {
  const node = document.createElement('iframe'); if (sandbox) node.sandbox = sandbox;
  const end = settled(node); node.srcdoc = html; document.body.append(node); return end};
const form = (enctype, method, path) => {
  const target = document.createElement('iframe'); target.name = `t${NAME}`; document.body.append(target);
  const node = Object.assign(document.createElement('form'), {method, action: to(path), target: target.name});
  if (enctype) node.enctype = enctype;
  for (const [name, value] of [['v', NAME], ['{"task":"', '"}']])
    node.append(Object.assign(document.createElement('input'), {name, value}));
  const end = settled(target); document.body.append(node); node.submit(); return end};
"""


@attrs.define
class Guarded:
    """A server, and what its guard has said."""

    port: int
    actors: Fake
    refused: dict[str, str]
    passed: list[str]


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    """In a thread of its own: the browser is driven from this one."""
    refused: dict[str, str] = {}
    passed: list[str] = []
    check, dispatch = guard.check, app.PathDispatcher.__call__

    def checked(policy, scope):
        error = check(policy, scope)
        name = scope["query_string"].decode().partition("v=")[2].partition("&")[0]
        if error is not None and name:
            refused[name] = error.code
        return error

    async def dispatched(self, scope, receive, send):
        passed.append(f"{scope['path']}?{scope['query_string'].decode()}")
        await dispatch(self, scope, receive, send)

    monkeypatch.setattr(guard, "check", checked)
    monkeypatch.setattr(app.PathDispatcher, "__call__", dispatched)
    actors, ready, ports, tokens = Fake(), threading.Event(), [], []
    over = trio.Event()

    async def serve() -> None:
        tokens.append(trio.lowlevel.current_trio_token())
        async with running(actors) as server:
            ports.append(server.port)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    assert ready.wait(60)
    yield Guarded(ports[0], actors, refused, passed)
    trio.from_thread.run_sync(over.set, trio_token=tokens[0])
    thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A foreign site: one empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>foreign</title><body>")

    def log_message(self, *_):
        pass


@pytest.fixture
def foreign() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield site.server_address[1]
        site.shutdown()
        thread.join()


@pytest.mark.browser
@pytest.mark.parametrize("host", ["127.0.0.1", "evil.test"])
def test_no_request_of_a_foreign_page_reaches_a_handler(
    guarded: Guarded, foreign: int, chromium: Browser, host: str
):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"http://{host}:{foreign}/")
    for name, send in VECTORS.items():
        known = HELP.replace("${PORT}", str(guarded.port)).replace("NAME", f"'{name}'")
        page.evaluate(f"async () => {{ {known}\n try {{ await ({send}) }} catch {{}} }}")
    until(
        lambda: set(guarded.refused) >= set(VECTORS),
        f"the guard has refused {sorted(set(VECTORS) - set(guarded.refused))}",
    )
    context.close()
    assert guarded.passed == []
    assert guarded.actors.calls == []
    assert {guarded.refused[name] for name in VECTORS} <= {"foreign_origin", "method_not_allowed"}


@pytest.mark.browser
def test_a_name_that_is_led_here_is_not_this_server(guarded: Guarded, chromium: Browser):
    """DNS rebinding: the origin is the server's own, the name is not."""
    context = chromium.new_context()
    page = context.new_page()
    reply = page.goto(f"http://evil.test:{guarded.port}/?v=rebound")
    assert reply is not None
    assert reply.status == 421
    page.evaluate("() => fetch('/api/session/stop', {method: 'POST'}).catch(() => 0)")
    assert guarded.passed == []
    assert guarded.actors.calls == []
    page.goto(f"http://127.0.0.1:{guarded.port}/")
    context.close()
    assert guarded.passed, "its own page is let in: what counts here counts"
