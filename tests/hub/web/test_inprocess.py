"""A request from within this process is answered, and refused, as the same one over HTTP is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import attrs
import pytest
import trio

from hub.api.history import Diff
from hub.errors import Code, HubError
from hub.mcp.http import ToolsApp
from hub.messages.session import GetStatus, RequestReply, StartRun
from hub.web.inprocess import InProcess
from hub.web.route import Route
from hub.web.routes import table
from supervisors import ActorDied
from tests.hub.web.fake import Fake, Server, begin_again, record, running
from tests.hub.web.test_app import ALONE, GOOD, SHA, names
from tests.hub.web.wire import Reply, ask

ID = "a-1f2e3d4c5b6a"
SECRET = "sk-1"  # what this file's redactor hides
ROUTES = [
    route
    for route in table(1)
    if route.media == "application/json"
    and route.path not in ("/", "/api/health", "/api/system/tree", "/api/history/rewind")
]
"""All but those whose answer has a clock or this server in it, or that answer otherwise each time."""


@attrs.frozen
class Both:
    """One server, and the two ways to ask it."""

    server: Server
    inside: InProcess

    async def ask(self, method: str, path: str, given: dict[str, Any]) -> Any:
        """What is told in process: the value, or the document of the error that is raised."""
        try:
            return await (self.inside.get if method == "GET" else self.inside.post)(path, given)
        except HubError as error:
            return error.problem()

    async def over_http(self, method: str, path: str, given: dict[str, Any]) -> Reply:
        if method == "POST":
            return await ask(self.server.port, method, path, given)
        return await ask(self.server.port, method, f"{path}?{urlencode(given)}" if given else path)


def redact(value: Any) -> Any:
    return json.loads(json.dumps(value).replace(SECRET, "[REDACTED]"))


@pytest.fixture
async def both(actors: Fake) -> AsyncIterator[Both]:
    given: list[InProcess] = []

    def tools(inside: InProcess) -> ToolsApp:
        given.append(inside)
        return ToolsApp(inside)

    async with running(actors, tools=tools, redact=redact) as server:
        yield Both(server, given[0])


@pytest.mark.parametrize("route", ROUTES, ids=names(ROUTES))
async def test_every_route_answers_the_same(both: Both, route: Route):
    both.server.actors.publish(record(1, "\x1b[31mred\u202e"))
    given = {"/api/history/diff": {"sha": SHA}, "/api/retrieval": {"q": "a b&c"}}.get(route.path, {})
    path = route.path.replace("{id}", ID)
    asked = route.method, path, GOOD.get(route.path, {}) if route.method == "POST" else given
    told: list[Any] = []
    for ask_it in (both.ask, both.over_http):
        begin_again()  # the one before may have discarded the work
        told.append(await ask_it(*asked))
    assert told[0] == told[1].json
    calls = both.server.actors.calls
    assert calls[: len(calls) // 2] == calls[len(calls) // 2 :]
    assert bool(calls) == (route.path not in ALONE)


@pytest.mark.parametrize(
    ("method", "path", "given", "code"),
    [
        ("GET", "/api/events", {"since": -1, "limit": "many", "sinc": 1}, Code.INVALID),
        ("GET", "/api/events", {"since": 1.5}, Code.INVALID),
        ("GET", "/api/retrieval", {}, Code.INVALID),
        ("POST", "/api/run", {"task": "", "threshold": 2, "dry": True, "verify": [1, ""]}, Code.INVALID),
        ("POST", "/api/run", {"task": f"x{SECRET}", "kind": 1, SECRET: 1}, Code.INVALID),
        ("POST", "/api/run", {}, Code.INVALID),
        ("POST", "/api/session/pause", {"pause": "yes"}, Code.INVALID),
        ("POST", "/api/session/reply", {"reply": "\ud800"}, Code.MALFORMED),
        ("POST", f"/api/approvals/{ID}", {"approved": 1, "id": ID}, Code.INVALID),
        ("POST", "/api/approvals/No%20Id", {"approved": True}, Code.INVALID),
        ("POST", "/api/approvals/a%2Fb", {"approved": True}, Code.NOT_FOUND),
        ("GET", "/api/none", {}, Code.NOT_FOUND),
    ],
)
async def test_what_does_not_validate_is_refused_the_same(both: Both, method, path, given, code):
    """Every problem is named, with its place; rules of the actors' own come after."""
    told = await both.ask(method, path, given)
    reply = await both.over_http(method, path, given)
    assert (told, told["code"], told["status"]) == (reply.json, code.value, reply.status)
    assert SECRET not in json.dumps(told)
    assert both.server.actors.calls == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (
            HubError(
                Code.INVALID,
                f"no {SECRET}\x1b[1m",
                hint=SECRET,
                errors=[{"path": f"$.{SECRET}", "message": SECRET}],
            ),
            Code.INVALID,
        ),
        (HubError(Code.REPLY_UNSUPPORTED, "none now"), Code.REPLY_UNSUPPORTED),
        (ActorDied("status"), Code.UNAVAILABLE),
        (trio.TooSlowError(), Code.TIMEOUT),
        (RuntimeError(SECRET), Code.INTERNAL),
    ],
    ids=lambda value: str(value) if isinstance(value, Code) else type(value).__name__,
)
async def test_what_an_actor_refuses_is_told_the_same(both: Both, error: Exception, code: Code):
    """Row 42: what an error quotes passes the redactor, the hint and the field problems too."""
    both.server.actors.error = error
    asked = "POST", "/api/session/reply", {"reply": "yes"}
    told = await both.ask(*asked)
    assert (told, told["code"]) == ((await both.over_http(*asked)).json, code.value)
    assert SECRET not in json.dumps(told)
    assert "\x1b" not in json.dumps(told)


async def test_what_files_and_git_say_is_redacted(both: Both, monkeypatch):
    async def quotes(*_: object) -> Diff:
        return Diff(summary="1 file", diff=f"+{SECRET}\x1b[1m", truncated=False)

    monkeypatch.setattr("hub.io.git.repository.session_diff", quotes)
    told = await both.ask("GET", "/api/session/diff", {})
    assert told == {"summary": "1 file", "diff": "+[REDACTED]", "truncated": False}
    assert told == (await both.over_http("GET", "/api/session/diff", {})).json


async def test_the_method_is_a_part_of_the_name(both: Both):
    """Over HTTP it is a 405, which says what is allowed; here nobody could do anything with that."""
    for asked in (("GET", "/api/run", {}), ("POST", "/api/status", {})):
        assert (await both.ask(*asked))["code"] == Code.NOT_FOUND


async def test_who_stops_waiting_cancels_the_call(both: Both):
    begun, left = trio.Event(), trio.Event()

    async def slow(_: object) -> None:
        begun.set()
        try:
            await trio.sleep_forever()
        finally:
            left.set()

    both.server.actors.instead |= {RequestReply: slow, GetStatus: slow, StartRun: slow}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(both.inside.get, "/api/status", {})
        await begun.wait()
        nursery.cancel_scope.cancel()
    assert left.is_set()
