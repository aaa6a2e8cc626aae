"""`[server] token` and `Hub-Project`: G14 of the guard, and that a request reaches the project it is meant for."""

from __future__ import annotations

import base64

import pytest

from hub.client.live import follow
from hub.client.quick import Api
from hub.errors import Code
from hub.web.routes import table
from tests.hub.web.fake import record, running
from tests.hub.web.wire import Refused, ask, socket
from tests.refusals import refuses

TOKEN = "correct-horse-battery"
RIGHT = ("Authorization", f"Bearer {TOKEN}")
WRONG = {
    "none": [],
    "another": [("Authorization", "Bearer correct-horse-batterz")],
    "longer": [("Authorization", f"Bearer {TOKEN}x")],
    "empty": [("Authorization", "Bearer ")],
    "another scheme": [("Authorization", f"Basic {TOKEN}")],
    "two": [RIGHT, RIGHT],
    "no scheme": [("Authorization", TOKEN)],
    "no blank": [("Authorization", f"Bearer{TOKEN}")],
    "no ASCII": [("Authorization", "Bearer \xe9")],
}
ROUTES = [(route.method, route.path.replace("{sha}", "abcdef0")) for route in table(1)]


def protocols(token: str) -> list[str]:
    return ["hub", "bearer." + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")]


@pytest.mark.parametrize("headers", WRONG.values(), ids=WRONG)
async def test_without_the_token_nothing_is_served(headers):
    """Every route, those that tell nothing too; no handler is asked."""
    async with running(token=TOKEN) as server:
        for method, path in [*ROUTES, ("GET", "/nowhere"), ("GET", f"/api/status?token={TOKEN}")]:
            reply = await ask(server.port, method, path, {} if method == "POST" else None, headers=headers)
            assert (reply.status, reply.json["code"]) == (401, "token_needed"), path
            assert reply.headers["www-authenticate"] == 'Bearer realm="hub"'
        assert server.actors.calls == []


async def test_with_it_everything_is():
    async with running(token=TOKEN) as server:
        assert (await ask(server.port, "GET", "/api/status", headers=[RIGHT])).status == 200
        assert (await ask(server.port, "GET", "/api/events/stream?since=x", headers=[RIGHT])).status == 422


@pytest.mark.parametrize("shown", [f"bearer {TOKEN}", f"BEARER {TOKEN}", f"Bearer   {TOKEN}"])
async def test_a_scheme_is_the_same_in_any_case(shown):
    """RFC 9110, 11.1; RFC 6750, 2.1: one blank or more before the token."""
    async with running(token=TOKEN) as server:
        reply = await ask(server.port, "GET", "/api/status", headers=[("Authorization", shown)])
        assert reply.status == 200


async def test_a_foreign_page_that_knows_it_stays_out():
    """The token comes on top of the guard's other rules."""
    async with running(token=TOKEN) as server:
        foreign = [RIGHT, ("Origin", "https://evil.example")]
        assert (await ask(server.port, "GET", "/api/status", headers=foreign)).status == 403


async def test_a_daemon_without_a_token_asks_for_none():
    """The specification's default: no authentication; a header that is not asked for does no harm."""
    async with running() as server:
        assert (await ask(server.port, "GET", "/api/status")).status == 200
        assert (await ask(server.port, "GET", "/api/status", headers=WRONG["another"])).status == 200


SHOWN = {"header": {"headers": [RIGHT]}, "subprotocol": {"subprotocols": protocols(TOKEN)}}
HIDDEN = {
    "none": {},
    "wrong": {"subprotocols": protocols("wrong-horse-battery")},
    "not base64": {"subprotocols": ["hub", "bearer.x"]},
    "twice": {"headers": [RIGHT], "subprotocols": protocols(TOKEN)},
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
async def test_a_websocket_shows_it_in_its_handshake(shown):
    """A page cannot set a header there, but it can offer subprotocols."""
    async with running(token=TOKEN) as server, socket(server.port, **shown) as client:
        await server.actors.subscribed.wait()
        server.actors.publish(record(1))
        assert '"id":1' in await client.text()


@pytest.mark.parametrize("shown", HIDDEN.values(), ids=HIDDEN)
async def test_a_websocket_without_it_is_refused(shown):
    async with running(token=TOKEN) as server:
        with pytest.raises(Refused) as refused:
            async with socket(server.port, f"/ws?token={TOKEN}", **shown):
                pass
        assert refused.value.status == 401
        assert server.actors.calls == []


async def test_the_follower_brings_it():
    async with running(token=TOKEN) as server:
        server.actors.publish(record(1))
        async with follow(Api(server.port, token=TOKEN), 0) as batches:
            assert [item["id"] for item in await anext(batches)] == [1]
        with refuses(Code.TOKEN_NEEDED):
            async with follow(Api(server.port), 0) as batches:
                await anext(batches)


async def test_health_names_the_project():
    """Whoever finds a daemon on a port can tell whose it is."""
    async with running(project="/home/me/räume") as server:
        told = (await ask(server.port, "GET", "/api/health")).json
        assert (told["ok"], told["port"], told["project"]) == (True, server.port, "/home/me/räume")


@pytest.mark.parametrize(
    ("named", "status"),
    [
        ([], 200),
        (["/home/me/r%C3%A4ume"], 200),
        (["/home/me/other"], 421),
        (["/home/me/r%C3%A4ume"] * 2, 421),
    ],
    ids=["none", "this", "another", "two"],
)
async def test_a_request_for_another_project_is_refused(named, status):
    """Before it has any effect; one that names no project is taken, as the specification's clients name none."""
    async with running(project="/home/me/räume") as server:
        headers = [("Hub-Project", name) for name in named]
        reply = await ask(server.port, "POST", "/api/session/stop", {}, headers=headers)
        assert reply.status == status
        assert bool(server.actors.calls) == (status == 200)
        if status != 200:
            assert (reply.json["code"], "räume" in reply.json["detail"]) == ("other_project", True)
