"""`[server] socket`: the API over a unix socket that only this user can reach (G14)."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest
import trio

from hub.client.live import follow
from hub.client.quick import Api
from hub.errors import Code, HubError
from hub.owners import Owner
from hub.web import callers
from hub.web.unix import bind_unix
from tests.hub.web.fake import record, running
from tests.hub.web.wire import ask, read_reply, request


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "private" / "hub.sock"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


async def test_it_serves_beside_the_port_and_goes_with_the_server(place: Path):
    """0600 in a 0700 directory; the same API by both doors; gone at the end."""
    async with running(unix=place) as server:
        assert (mode(place), mode(place.parent)) == (0o600, 0o700)
        assert server.bound.socket == str(place)
        api = Api(server.port, socket=str(place))
        assert (await trio.to_thread.run_sync(api.get, "/api/health"))["port"] == server.port
        assert (await trio.to_thread.run_sync(api.post, "/api/session/stop"))["ok"] is True
        assert (await ask(server.port, "GET", "/api/health")).status == 200
    assert not place.exists()  # noqa: ASYNC240  # a test has time


async def test_events_are_followed_over_it(place: Path):
    async with running(unix=place) as server:
        server.actors.publish(record(1))
        async with follow(Api(server.port, socket=str(place)), 0) as batches:
            assert [item["id"] for item in await anext(batches)] == [1]


async def test_the_guard_stands_before_it_too(place: Path):
    """Host and token are asked for as by the port."""
    async with running(unix=place, token="correct-horse-battery") as server:
        for headers, status in (([("Host", "evil")], 421), ([("Host", f"localhost:{server.port}")], 401)):
            async with await trio.open_unix_socket(str(place)) as stream:
                await stream.send_all(request("GET", "/api/status", headers))
                assert (await read_reply(stream)).status == status


async def test_another_users_process_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch):
    """The kernel is asked who it is, although the modes should have kept it out."""
    monkeypatch.setattr(callers, "peer", lambda _: Owner(os.getuid() + 1))
    async with running(unix=place) as server, await trio.open_unix_socket(str(place)) as stream:
        await stream.send_all(request("GET", "/api/status", [("Host", f"localhost:{server.port}")]))
        reply = await read_reply(stream)
        assert (reply.status, reply.json["code"]) == (403, "other_user")
        assert server.actors.calls == []


def test_what_a_dead_daemon_left_is_taken_away(place: Path):
    bind_unix(place).close()
    assert place.exists()
    with bind_unix(place):
        assert mode(place) == 0o600


def refused(place: Path) -> HubError:
    with pytest.raises(HubError) as error:
        bind_unix(place)
    return error.value


def test_one_that_is_answered_stays(place: Path):
    with closing(bind_unix(place)) as first:
        assert refused(place).code is Code.PORT_IN_USE
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(place))
            first.accept()[0].close()


def test_where_it_may_not_lie(tmp_path: Path, place: Path):
    """Never in a directory others can enter, whose mode is not hub's to change; never over a file; never too long."""
    place.parent.mkdir(mode=0o755)
    place.parent.chmod(0o755)
    assert refused(place).code is Code.CONFIG_INVALID
    assert mode(place.parent) == 0o755
    place.parent.chmod(0o700)
    place.write_text("mine")
    assert refused(place).code is Code.CONFIG_INVALID
    assert place.read_text() == "mine"
    assert refused(tmp_path / ("x" * 100)).code is Code.CONFIG_INVALID
