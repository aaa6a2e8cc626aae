"""Every route end to end: what is asked of the actors, what is answered, and how errors leave."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest
import trio

from hub.api.base import Problem
from hub.api.convert import structure
from hub.errors import RULES, Code, HubError
from hub.messages.audit import AuditAppend, AuditHistory
from hub.messages.events import EventsSince
from hub.messages.session import GetStatus, RequestPause, RequestReply, StartRun
from hub.web import openapi
from hub.web.problem import problem
from hub.web.route import Route
from hub.web.routes import table
from supervisors import ActorDied, Exit, ExitKind
from tests.hub.web.fake import PIPELINE, Fake, Server, commit, record, running, with_work
from tests.hub.web.wire import ask
from tests.waiting import PATIENCE

SHA = commit()
GOOD: dict[str, Any] = {
    "/api/pipelines": [PIPELINE],
    "/api/pipelines/run": {"name": "p"},
    "/api/config/providers": {"name": "claude", "model": "m"},
    "/api/providers/install": {"name": "claude"},
    "/api/providers/oauth": {"name": "claude"},
    "/api/providers/account/login": {"provider": "claude", "label": "work"},
    "/api/providers/account": {"provider": "claude", "label": "work"},
    "/api/providers/account/add": {"provider": "claude", "label": "work"},
    "/api/providers/account/remove": {"provider": "claude", "label": "work"},
    "/api/providers/api-key": {"name": "claude", "value": "sk-1"},
    "/api/profiles": {"name": "p", "chain": ["claude"]},
    "/api/detect/adopt": {"id": "claude:n-1", "target": "codex"},
    "/api/vision/probe": {"prompt": "what is it?", "url": "http://127.0.0.1:1/"},
    "/api/localmodel/pull": {"tag": "qwen3-vl:8b"},
    "/api/localmodel/pull/cancel": {"tag": "qwen3-vl:8b"},
    "/api/localmodel/launch": {"provider": "claude", "model": "qwen3-coder"},
    "/api/run": {"task": "x"},
    "/api/approvals/{id}": {"approved": True},
    "/api/session/pause": {"pause": True},
    "/api/session/reply": {"reply": "yes"},
    "/api/history/rewind": {"sha": SHA},
    "/api/session/take": {"how": "patch"},
}
ROUTES = [*table(1), openapi.route(table(1))]
ALONE = {
    "/", "/api/health", "/openapi.json", "/api/system/tree", "/api/history/commits", "/api/history/diff", "/api/graph/project", "/api/trust",
}  # fmt: skip
"""What asks no actor."""
BACKED = [route for route in ROUTES if route.path not in {*ALONE, "/metrics"}]
"""What says so when the actor that it asks cannot answer."""


def names(routes: list[Route]) -> list[str]:
    return [f"{route.method} {route.path}" for route in routes]


async def call(server: Server, route: Route) -> Any:
    target = route.path.replace("{id}", "a-1f2e3d4c5b6a")
    target += {"/api/history/diff": f"?sha={SHA}", "/api/retrieval": "?q=x"}.get(route.path, "")
    body = GOOD.get(route.path, {}) if route.method == "POST" else None
    with with_work() if route.path == "/api/session/take" else nullcontext():
        return await ask(server.port, route.method, target, body)


@pytest.mark.parametrize("route", ROUTES, ids=names(ROUTES))
async def test_a_good_request_is_answered_as_described(server: Server, route: Route):
    """Status, media type, and a body of the described type."""
    server.actors.publish(record(1))
    reply = await call(server, route)
    assert reply.status == route.status
    assert reply.headers["content-type"] == route.media
    if route.media == "application/json":
        structure(reply.json, route.answer)
    assert bool(server.actors.calls) == (route.path not in ALONE)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HubError(Code.NO_SPACE), Code.NO_SPACE),
        (ActorDied("session"), Code.UNAVAILABLE),
        (ActorDied("quota", Exit(ExitKind.ERROR, error=HubError(Code.STATE_CORRUPT))), Code.STATE_CORRUPT),
        (trio.TooSlowError(), Code.TIMEOUT),
        (KeyError("secret-in-a-key"), Code.INTERNAL),
        (ImportError("cannot import name 'x' from 'y'"), Code.INSTALL_BROKEN),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_errors_leave_as_problem_documents(
    server: Server, error: Exception, code: Code, caplog: pytest.LogCaptureFixture
):
    """From every route there is."""
    server.actors.error = error
    for route, name in zip(BACKED, names(BACKED), strict=True):
        caplog.clear()
        reply = await call(server, route)
        assert (reply.status, reply.json["code"]) == (RULES[code].status, code), name
        assert reply.headers["content-type"] == "application/problem+json", name
        told = structure(reply.json, Problem)
        assert (told.status, told.title) == (reply.status, RULES[code].title), name
        assert told.hint, name
        assert ("retry-after" in reply.headers) == (code is Code.UNAVAILABLE), name
        assert b"Traceback" not in reply.body, name
        assert b"secret-in-a-key" not in reply.body, name
        unforeseen = "secret-in-a-key" in caplog.text
        assert unforeseen == (code is Code.INTERNAL), f"{name}: what is unforeseen is logged"


@pytest.mark.parametrize("route", BACKED, ids=names(BACKED))
async def test_every_code_a_route_lists_arrives_as_listed(server: Server, route: Route):
    for code in sorted(route.codes):
        server.actors.error = HubError(code, "because")
        reply = await call(server, route)
        assert (reply.status, reply.json["code"], reply.json["detail"]) == (
            RULES[code].status,
            code,
            "because",
        )


def with_unknown(body: Any) -> Any:
    """The body, or the first item of a list, with a field nobody knows."""
    return [with_unknown(body[0])] if isinstance(body, list) else {**body, "unknwon": 1}


@pytest.mark.parametrize("route", [r for r in ROUTES if r.method == "POST"], ids=lambda r: r.path)
async def test_bodies_are_strict(server: Server, route: Route):
    """Duplicate keys, unknown fields, a stray query."""
    double = await ask(server.port, "POST", route.path, b'{"x": 1, "x": 2}')
    unknown = await ask(server.port, "POST", route.path, with_unknown(GOOD.get(route.path, {})))
    stray = await ask(server.port, "POST", f"{route.path}?task=x", GOOD.get(route.path, {}))
    assert [reply.status for reply in (double, unknown, stray)] == [400, 422, 422]
    place = "$[0].unknwon" if isinstance(GOOD.get(route.path), list) else "$.unknwon"
    assert unknown.json["errors"][0]["path"] == place
    assert stray.json["errors"][0]["path"] == "$.task"
    assert server.actors.calls == []


@pytest.mark.parametrize("route", [r for r in ROUTES if r.method == "GET"], ids=lambda r: r.path)
async def test_unknown_query_parameters_are_refused(server: Server, route: Route):
    reply = await ask(server.port, "GET", f"{route.path}?unknwon=1")
    assert reply.status == 422
    assert "$.unknwon" in [entry["path"] for entry in reply.json["errors"]]
    assert server.actors.calls == []


async def test_run_passes_everything_on(server: Server):
    body = {
        "task": "do it", "threshold": 0.5, "maxHandoffs": 0, "provider": "claude", "profile": "p",
        "verify": ["make test"], "onLimit": "wait",
    }  # fmt: skip
    reply = await ask(server.port, "POST", "/api/run", body)
    assert (reply.status, reply.json["ok"], reply.json["sessionId"]) == (202, True, "s-1")
    await ask(server.port, "POST", "/api/run", {"task": "x", "verify": []})
    await ask(server.port, "POST", "/api/run", {"task": "x"})
    full, empty, default = server.actors.calls
    assert full == StartRun("do it", 0.5, 0, "claude", "p", verify=("make test",), on_limit="wait")
    assert empty.verify == (), "no command is not the same as those of hub.toml"
    assert default == StartRun("x")
    await ask(server.port, "POST", "/api/run", {"task": "x", "kind": "docs"})
    assert server.actors.calls[-1] == StartRun("x", kind="docs")


async def test_the_other_orders_pass_on_what_they_take(server: Server):
    await ask(server.port, "POST", "/api/session/pause", {"pause": False})
    await ask(server.port, "POST", "/api/session/reply", {"reply": "y\n"})
    await ask(server.port, "POST", "/api/history/rewind", {"sha": SHA})
    await ask(server.port, "GET", "/api/events?since=7&limit=2")
    await ask(server.port, "GET", "/api/history?limit=3")
    noted = [call for call in server.actors.calls if isinstance(call, AuditAppend)]
    told = [(entry.event, entry.data["sha"]) for call in noted for entry in call.entries]
    assert told == [("rewind_begun", SHA), ("rewind", SHA)], "a branch that is not on record is nobody's"
    assert server.actors.calls == [
        RequestPause(False), RequestReply("y\n"), *noted, EventsSince(7, 2), AuditHistory(3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "sha", ["--output=/tmp/x", "-p", "HEAD", "a..b", ":/x", "abc", "A" * 40, "a" * 65, "a" * 40 + "%0a", ""]
)
async def test_a_sha_is_hex_or_refused(server: Server, sha: str):
    """Row 6 of the security table: what git could read as an option or a range never gets near it."""
    assert (await ask(server.port, "GET", f"/api/history/diff?sha={sha}")).status == 422
    assert (
        await ask(server.port, "POST", "/api/history/rewind", {"sha": sha.replace("%0a", "\n")})
    ).status == 422
    assert server.actors.calls == []


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/status/",
        "//api/status",
        "/api//status",
        "/api/../api/status",
        "/api/nope",
        "/api/status%00",
    ],
)
async def test_paths_that_are_none_are_404_and_never_redirected(server: Server, path: str):
    reply = await ask(server.port, "GET", path)
    assert (reply.status, reply.json["code"]) == (404, "not_found")


@pytest.mark.parametrize("route", ROUTES, ids=names(ROUTES))
async def test_another_method_is_405_with_what_is_allowed(server: Server, route: Route):
    allowed = {other.method for other in ROUTES if other.path == route.path}
    wrong = next(method for method in ("POST", "GET", "PUT") if method not in allowed)
    reply = await ask(server.port, wrong, route.path)
    assert reply.status == 405
    assert route.method in reply.headers["allow"]


async def test_head_is_get_without_a_body(server: Server):
    reply = await ask(server.port, "HEAD", "/api/status")
    assert (reply.status, reply.body) == (200, b"")
    assert int(reply.headers["content-length"]) > 0


async def test_nothing_goes_on_for_whoever_has_gone():
    asked, left = trio.Event(), trio.Event()

    async def never(_: Any) -> Any:
        asked.set()
        try:
            await trio.sleep_forever()
        finally:
            left.set()

    async with running(Fake(instead={GetStatus: never})) as server:
        stream = await trio.open_tcp_stream("127.0.0.1", server.port)
        await stream.send_all(b"GET /api/status HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % server.port)
        await asked.wait()
        await stream.aclose()
        with trio.fail_after(PATIENCE):
            await left.wait()


class Buggy(Fake):
    async def call(self, message: Any, timeout: float = 0) -> Any:
        return {"x": object()}


async def test_an_answer_that_cannot_be_encoded_is_a_500(caplog: pytest.LogCaptureFixture):
    """A bug of ours, told as one and logged."""
    async with running(Buggy()) as server:
        assert (await ask(server.port, "GET", "/api/status")).status == 500
    assert "unforeseen" in caplog.text


def test_every_code_has_a_whole_problem_document():
    for code in Code:
        told = structure(json.loads(problem(HubError(code)).body), Problem)
        assert (told.code, told.status, told.type) == (code, RULES[code].status, f"urn:hub:error:{code}")
        assert json.loads(problem(HubError(code)).body)["title"]
