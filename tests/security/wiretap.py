"""All that anybody can hear or read of a session, byte for byte.

Owns: the sinks: every GET route and the error bodies over real HTTP; the WebSocket and the server-sent events, followed
while the session goes on; the tool server by `hub mcp` and by `/mcp`, its refusals too; every file under `.hub/`, with
audit, contract and brief; the commits' messages; the daemon's log. No sinks: the worktree (bytes an agent wrote are
sacred) and the raw spool under `.hub/run`, 0600.
Must not: judge what was heard.
"""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import attrs
import pytest
import trio
from wsproto.events import TextMessage

from hub.messages.session import RequestHandoff, RequestReply, StartRun
from hub.web.routes import table
from tests.faults.harness import Project, git
from tests.hub.actors.daemon import daemon_of
from tests.hub.mcp.kit import served
from tests.hub.web.wire import Socket, ask, request, socket
from tests.waiting import eventually

ASKED = ("hub_status", "hub_providers", "hub_diff", "hub_cost", "hub_list_profiles", "hub_events")


@attrs.define
class Heard:
    """What came over each wire so far."""

    socket: str = ""
    stream: bytes = b""

    async def all_until(self, last: int) -> None:
        """Waits until the record with this id has come over both."""
        await eventually(lambda: f'"id":{last},' in self.socket and b"id: %d\n" % last in self.stream)


@asynccontextmanager
async def listening(port: int) -> AsyncIterator[Heard]:
    """Follows the log over both live wires from now on."""
    heard = Heard()
    async with (
        trio.open_nursery() as nursery,
        socket(port) as client,
        await trio.open_tcp_stream("127.0.0.1", port) as stream,
    ):
        await stream.send_all(request("GET", "/api/events/stream", [("Host", f"127.0.0.1:{port}")]))
        heard.stream += await stream.receive_some()
        nursery.start_soon(_follow_socket, client, heard)
        nursery.start_soon(_follow_stream, stream, heard)
        yield heard
        nursery.cancel_scope.cancel()


async def _follow_socket(client: Socket, heard: Heard) -> None:
    while True:
        await client._feed()
        heard.socket += "".join(event.data for event in client.queue if isinstance(event, TextMessage))
        client.queue.clear()


async def _follow_stream(stream: trio.SocketStream, heard: Heard) -> None:
    while data := await stream.receive_some():
        heard.stream += data


def _calls(strangers: Iterable[str]) -> list[tuple[str, dict[str, object]]]:
    """Every tool that only looks, and calls that are refused for what is in them."""
    refused = [("hub_retrieve", {"q": value}) for value in strangers]
    refused += [("hub_events", {"since": value}) for value in strangers]
    refused += [(value, {}) for value in strangers]
    return [*((name, {}) for name in ASKED), *refused]


def over_stdio(where: Path, environ: dict[str, str], strangers: Iterable[str]) -> str:
    """What `hub mcp` answers; the log a page at a time, to its end."""
    answers: list[object] = []
    with served(where, environ) as client:
        client.hello()
        since = 0
        while True:
            page = client.call("hub_events", since=since)
            answers.append(page)
            told = page["structuredContent"]
            if not told["events"]:
                break
            since = told["next"]
        answers += [
            client.ask("tools/call", {"name": name, "arguments": given}) for name, given in _calls(strangers)
        ]
        client.process.stdin.close()
        said = client.process.stderr.read().decode()
    return json.dumps(answers, ensure_ascii=False) + said


async def over_http(port: int, strangers: Iterable[str]) -> str:
    """What `POST /mcp` answers."""
    accept = [("Accept", "application/json, text/event-stream")]
    bodies = []
    for number, (name, given) in enumerate(_calls(strangers)):
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": given},
        }
        bodies.append((await ask(port, "POST", "/mcp", message, headers=accept)).body.decode())
    return "\n".join(bodies)


def _get(port: int, path: str) -> str:
    """The body of an answer, be it an error's."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def _asked(port: int, strangers: Iterable[str]) -> dict[str, str]:
    """The answer of every GET route, and of questions that are refused for what is in them."""
    plain = [route.path for route in table(port) if route.method == "GET" and "{" not in route.path]
    commits = json.loads(_get(port, "/api/history/commits"))
    paths = [*plain, *(f"/api/history/diff?sha={commit['sha']}" for commit in commits)]
    for value in map(urllib.parse.quote, strangers):
        paths += [f"/api/history/diff?sha={value}", f"/api/events?since={value}", f"/api/none/{value}"]
    return {path: _get(port, path) for path in paths}


async def sinks(
    made: Project,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    order: StartRun,
    reply: str,
    *,
    strangers: Sequence[str] = (),
    but: Iterable[str],
) -> dict[str, str]:
    """A whole session with a handoff, a question, a reply, a crash and a failed acceptance command; each sink by its name.

    Args:
        made: Whose second agent asks something.
        monkeypatch: For the daemon's environment.
        caplog: Takes the daemon's log.
        order: Begins it.
        reply: Answers the second agent.
        strangers: Sent where none belongs, so that what is refused is told.
        but: Files and folders of `.hub` that are no sinks, beside the worktrees and the spool.
    """
    caplog.set_level(logging.DEBUG)
    found: dict[str, str] = {}
    async with daemon_of(made, monkeypatch) as live, listening(made.port) as heard:
        await live.ask("sessions", order)
        await live.until(lambda s: s["needsInput"] or s["sessionState"] == "failed", "the second agent asks")
        refused = await live.refusal(RequestHandoff())
        await live.ask("sessions", RequestReply(reply))
        await live.until_ended()
        found |= await trio.to_thread.run_sync(partial(_asked, made.port, strangers))
        records = await live.events()
        found["/mcp"] = await over_http(made.port, strangers)
        found["hub mcp"] = await trio.to_thread.run_sync(over_stdio, made.root, made.environ(), strangers)
        await heard.all_until(records[-1].id)
    for path in made.hub.rglob("*"):
        inside = path.relative_to(made.hub).parts
        if path.is_file() and inside[0] not in ("worktrees", "run", *but):
            found[str(path.relative_to(made.root))] = path.read_bytes().decode("utf-8", "replace")
    return found | {
        "a problem": refused.detail + refused.hint,
        "events": json.dumps([record.to_json() for record in records], ensure_ascii=False),
        "the socket": heard.socket,
        "the event stream": heard.stream.decode(),
        "commit messages": git(made.root, "log", "--all", "--format=%B%an%ae%D"),
        "the log": caplog.text,
    }
