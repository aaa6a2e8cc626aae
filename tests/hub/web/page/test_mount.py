"""Where the page stands among the paths, what it leaves with, and who does not get it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hub.web.page.mount import CONTENT_POLICY, FOLDER, files
from hub.web.page.paths import PATHS, page_of
from hub.web.routes import table
from tests.hub.web.fake import Server, running
from tests.hub.web.wire import ask

HTML = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]


def path_of(name: str) -> str:
    """A page's path with something for each parameter."""
    return PATHS[name].replace("<sessionId>", "s-1")


async def test_a_browser_gets_the_board_and_a_program_the_index(server: Server):
    """One address for both: who asks for HTML is shown the page."""
    shown = await ask(server.port, "GET", "/", headers=HTML)
    told = await ask(server.port, "GET", "/")
    assert (shown.status, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"<h1>Board</h1>" in shown.body
    assert shown.headers["vary"] == "Accept"
    assert told.json["openapi"] == "/openapi.json"


async def test_a_page_may_load_nothing_but_hubs_own_files(server: Server):
    """Neither inline nor eval, no frame around it, no base: G11 of the guard with 'self' for the page."""
    reply = await ask(server.port, "GET", "/", headers=HTML)
    assert reply.headers["content-security-policy"] == CONTENT_POLICY
    assert "unsafe" not in CONTENT_POLICY
    assert reply.headers["cache-control"] == "no-store"
    for name, value in (
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
    ):
        assert reply.headers[name] == value
    assert b" style=" not in reply.body
    assert b"<style" not in reply.body


@pytest.mark.parametrize("name", PATHS)
async def test_every_page_is_shown_and_refused_like_any_route(server: Server, name: str):
    """A foreign host, origin or site gets no page either, and no actor is asked."""
    path = path_of(name)
    assert (await ask(server.port, "GET", path, headers=HTML)).status == 200
    server.actors.calls.clear()
    for header in (
        ("Host", "evil.example"),
        ("Origin", "http://evil.example"),
        ("Sec-Fetch-Site", "same-site"),
    ):
        assert (await ask(server.port, "GET", path, headers=[*HTML, header])).status in (400, 403, 421)
    assert (await ask(server.port, "POST", path, {}, headers=HTML)).status == 405
    assert server.actors.calls == []


async def test_head_is_get_without_a_body(server: Server):
    reply = await ask(server.port, "HEAD", "/", headers=HTML)
    assert (reply.status, reply.body) == (200, b"")
    assert int(reply.headers["content-length"]) > 1000


@pytest.mark.parametrize("name", sorted(files()))
async def test_a_file_is_sent_once(server: Server, name: str):
    """Its tag is its content's; who has it is told so."""
    first = await ask(server.port, "GET", f"/static/{name}")
    again = await ask(
        server.port, "GET", f"/static/{name}", headers=[("If-None-Match", first.headers["etag"])]
    )
    assert (first.status, first.body) == (200, (FOLDER / name).read_bytes())
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "name", ["", "none.js", "../mount.py", "..%2fmount.py", "%2e%2e/mount.py", "hub.js/"]
)
async def test_no_other_file_is_served(server: Server, name: str):
    assert (await ask(server.port, "GET", f"/static/{name}")).status == 404


@pytest.mark.parametrize(
    "path",
    ["/session", "/session/", "/session/s-1/", "/session/a/b", "//quota", "/quota/", "/Quota", "/static"],
)
async def test_a_path_has_one_spelling(server: Server, path: str):
    assert (await ask(server.port, "GET", path, headers=HTML)).status == 404


@pytest.mark.parametrize("session", ["s-none", "..", "%3Cscript%3E", "A" * 65, "s%00"])
async def test_a_session_that_is_none_is_a_page_that_says_so(server: Server, session: str):
    reply = await ask(server.port, "GET", f"/session/{session}", headers=HTML)
    assert (reply.status in (404, 422), reply.headers["content-type"]) == (True, "text/html; charset=utf-8")
    assert b"<script>alert" not in reply.body


async def test_an_unknown_question_is_a_page_that_says_so(server: Server):
    reply = await ask(server.port, "GET", "/?unknwon=1", headers=HTML)
    assert (reply.status, reply.headers["content-type"]) == (422, "text/html; charset=utf-8")


def test_no_page_stands_in_the_way_of_a_route():
    """A path is a page's or a route's; `/` alone is both, by what is asked for."""
    routes = {route.path for route in table(1)} | {"/ws", "/mcp", "/openapi.json", "/api/events/stream"}
    assert routes & set(PATHS.values()) == {"/"}
    scope = {"path": "/", "method": "GET", "headers": [(b"accept", b"*/*")]}
    assert page_of(scope) is None


async def test_the_page_names_the_project_it_belongs_to():
    """Its script sends that name with everything: a header that no foreign page can send."""
    async with running(project="/w/\u00e4") as server:
        reply = await ask(server.port, "GET", "/", headers=HTML)
    assert b'<meta name="hub-project" content="/w/%C3%A4">' in reply.body


def test_a_start_imports_nothing_that_only_pages_need():
    """Colours and prose come with the first page."""
    program = "import sys, hub.daemon; print([name for name in ('pygments', 'markdown_it', 'hub.web.page.site') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
