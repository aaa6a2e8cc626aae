"""The server always stops, says goodbye properly, and outlives any client. Each test fails on Hypercorn's own `serve`."""

from __future__ import annotations

import http.client
import json
import logging
import random
import socket as stdsocket
from contextlib import closing
from typing import Any

import pytest
import trio
import trio.testing
from wsproto.events import TextMessage

from hub.messages.session import RequestStop
from hub.web import connection, crowd, guard, server
from hub.web.doors import Bound, Doors, bind
from hub.web.server import serve
from tests.hub.web.fake import Fake, Server, record, running
from tests.hub.web.wire import ask, read_reply, request, socket
from tests.waiting import eventually

BIG = "x" * 500_000


def flood(actors: Fake, count: int = 40) -> None:
    """More than the kernel's buffers hold."""
    actors.room = 1000
    actors.publish(*(record(number, BIG) for number in range(1, count + 1)))


async def test_h1_a_client_that_does_not_read_cannot_stop_the_stop(monkeypatch: pytest.MonkeyPatch):
    """Hypercorn sends under a shield without a deadline: a stop waited for the client, for ever."""
    monkeypatch.setattr(server, "GRACE", 0.05)
    monkeypatch.setattr(connection, "SEND_TIMEOUT", 1e6)
    async with running() as running_, socket(running_.port, "/ws?batch=1", receive_buffer=4096):
        await running_.actors.subscribed.wait()
        flood(running_.actors)
        await trio.testing.wait_all_tasks_blocked(0.02)
        running_.stop.set()
        with trio.fail_after(10):
            await running_.done.wait()


async def test_h1_nor_can_it_stop_a_cancellation(monkeypatch: pytest.MonkeyPatch):
    """The tree above may have no patience for a grace."""
    monkeypatch.setattr(connection, "SEND_TIMEOUT", 1e6)
    actors, stop = Fake(), trio.Event()
    with trio.fail_after(10), closing(Doors(port=0)) as doors:
        async with trio.open_nursery() as nursery:
            bound: Bound = await nursery.start(
                lambda task_status: serve(actors.context(), stop, doors, task_status=task_status)
            )
            async with socket(bound.port, "/ws?batch=1", receive_buffer=4096):
                await actors.subscribed.wait()
                flood(actors)
                await trio.testing.wait_all_tasks_blocked(0.02)
                nursery.cancel_scope.cancel()
                await trio.lowlevel.checkpoint_if_cancelled()


async def test_h1_a_client_that_does_not_read_is_dropped_in_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "SEND_TIMEOUT", 0.05)
    async with running() as running_, socket(running_.port, "/ws?batch=1", receive_buffer=4096):
        await running_.actors.subscribed.wait()
        flood(running_.actors)
        await eventually(lambda: running_.actors.watching == 0)


@pytest.mark.parametrize("target", ["/ws", "/api/events/stream"])
async def test_h2_a_client_that_has_gone_is_noticed_although_nothing_is_sent(server: Server, target: str):
    """A handler that only pushes never sees the disconnect, once the client has sent ten messages."""
    if target == "/ws":
        async with socket(server.port) as client:
            await server.actors.subscribed.wait()
            for _ in range(50):
                await client.send(TextMessage(data="{}"))
    else:
        async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
            await stream.send_all(request("GET", target, [("Host", f"127.0.0.1:{server.port}")]))
            await server.actors.subscribed.wait()
    await eventually(lambda: server.actors.watching == 0)


async def test_h3_our_fault_is_told_as_1011(server: Server, caplog: pytest.LogCaptureFixture):
    """Quart closes with 1000, as if all were well."""
    async with socket(server.port) as client:
        await server.actors.subscribed.wait()
        poisoned = record(1)
        object.__setattr__(poisoned, "meta", {"what": object()})
        server.actors.publish(poisoned)
        assert (await client.closed()).code == 1011
    assert "unforeseen" in caplog.text


async def test_h4_a_drain_closes_with_1012_at_once(monkeypatch: pytest.MonkeyPatch):
    """Hypercorn cancels the handlers when its grace is over, and the client sees 1006."""
    monkeypatch.setattr(server, "GRACE", 1000)
    async with (
        running() as running_,
        socket(running_.port) as client,
        socket(running_.port, "/ws?batch=1") as other,
    ):
        await eventually(lambda: running_.actors.watching == 3)  # the feed is the third
        running_.stop.set()
        assert (await client.closed()).code == 1012
        assert (await other.closed()).code == 1012
        with trio.fail_after(10):
            await running_.done.wait()


async def test_h4_a_drain_ends_event_streams_and_idle_connections(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "GRACE", 1000)
    async with (
        running() as running_,
        await trio.open_tcp_stream("127.0.0.1", running_.port) as idle,
        await trio.open_tcp_stream("127.0.0.1", running_.port) as unused,
    ):
        host = ("Host", f"127.0.0.1:{running_.port}")
        await idle.send_all(request("GET", "/api/status", [host]))
        assert (await read_reply(idle)).status == 200
        async with trio.open_nursery() as nursery:

            async def stop_when_watched() -> None:
                await running_.actors.subscribed.wait()
                running_.stop.set()

            nursery.start_soon(stop_when_watched)
            reply = await ask(running_.port, "GET", "/api/events/stream")  # a whole answer, by its own end
        assert reply.status == 200
        with trio.fail_after(10):
            await running_.done.wait()
        assert await idle.receive_some(1) == b""
        assert await unused.receive_some(1) == b""


class Waiting(Fake):
    """Answers `stop` when told."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answer = trio.Event(), trio.Event()

    async def call(self, message: Any, timeout: float = 0) -> Any:
        if isinstance(message, RequestStop):
            self.asked.set()
            await self.answer.wait()
        return await super().call(message, timeout)


async def test_a_request_under_way_is_answered_during_the_drain(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "GRACE", 1000)
    actors = Waiting()
    async with running(actors) as running_, trio.open_nursery() as nursery:

        async def stop_while_asked() -> None:
            await actors.asked.wait()
            running_.stop.set()
            await eventually(lambda: _refuses(running_.port))
            actors.answer.set()

        nursery.start_soon(stop_while_asked)
        assert (await ask(running_.port, "POST", "/api/session/stop")).json["ok"] is True
        with trio.fail_after(10):
            await running_.done.wait()


def _refuses(port: int) -> bool:
    """Whether nothing accepts on the port any more."""
    with stdsocket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


async def test_a_request_that_never_ends_is_cut_when_the_grace_is_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "GRACE", 0.05)
    actors = Waiting()
    async with running(actors) as running_, await trio.open_tcp_stream("127.0.0.1", running_.port) as stream:
        headers = [("Host", f"127.0.0.1:{running_.port}"), ("Content-Type", "application/json")]
        await stream.send_all(request("POST", "/api/session/stop", headers, b"{}"))
        await actors.asked.wait()
        running_.stop.set()
        with trio.fail_after(10):
            await running_.done.wait()
        reply = await read_reply(stream)  # it was an empty 500
        assert (reply.status, reply.json["code"]) == (503, "unavailable")
        assert reply.headers["retry-after"] == "1"
        assert reply.headers["content-type"] == "application/problem+json"


async def test_a_client_still_sending_sees_why_it_was_refused(server: Server):
    """A close while the client sends makes the kernel answer with a reset; http.client then never reads the 413."""

    def upload() -> tuple[int, str]:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        try:
            client.request("POST", "/api/run", b" " * (24 << 20), {"Content-Type": "application/json"})
            answer = client.getresponse()
            return answer.status, json.loads(answer.read())["code"]
        finally:
            client.close()

    assert await trio.to_thread.run_sync(upload) == (413, "too_large")


async def test_a_chunked_flood_is_refused_and_drained(server: Server):
    """More pieces than the request's queue holds: Hypercorn then waits for room that never comes."""

    def upload() -> int:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        try:
            pieces = (b" " * 60_000 for _ in range(300))
            client.request(
                "POST", "/api/run", pieces, {"Content-Type": "application/json"}, encode_chunked=True
            )
            return client.getresponse().status
        finally:
            client.close()

    assert await trio.to_thread.run_sync(upload) == 413
    assert (await ask(server.port, "GET", "/api/health")).status == 200


async def test_a_refusal_frees_a_reader_that_waits_for_room(server: Server, monkeypatch: pytest.MonkeyPatch):
    """The request's queue is full of a body nobody will read: the answer must still arrive, and the rest be drained."""
    respond = guard.respond

    async def late(*args: Any) -> None:
        await trio.testing.wait_all_tasks_blocked(0.02)
        await respond(*args)

    monkeypatch.setattr(guard, "respond", late)

    def upload() -> int:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        try:
            client.request("POST", "/api/run", b" " * (24 << 20), {"Content-Type": "text/plain"})
            return client.getresponse().status
        finally:
            client.close()

    assert await trio.to_thread.run_sync(upload) == 415


async def test_noise_ends_connections_never_the_server(server: Server):
    """Whatever bytes come, the next client is served."""
    rng = random.Random(4748)
    starts = [
        b"",
        b"GET / HTTP/1.1\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01",
        b"POST /api/run HTTP/1.1\r\nHost:",
    ]
    for number in range(60):
        async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
            await stream.send_all(starts[number % len(starts)] + rng.randbytes(rng.randrange(1, 2000)))
            with trio.move_on_after(0.005):
                await stream.receive_some(100)
    assert (await ask(server.port, "GET", "/api/health")).status == 200


async def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    """One too many was cut off without a word; now it is told, as long as there is a place for that."""
    monkeypatch.setattr(crowd, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(server, "TURNED_AWAY", 1)
    async with running() as running_:
        async with socket(running_.port):
            await running_.actors.subscribed.wait()
            assert (await ask(running_.port, "GET", "/api/health")).status == 503
            async with (
                await trio.open_tcp_stream("127.0.0.1", running_.port),
                await trio.open_tcp_stream("127.0.0.1", running_.port) as third,
            ):
                with trio.fail_after(10):
                    assert await third.receive_some(1) == b""
        await eventually(lambda: running_.actors.watching == 0)
        assert "too many are open" in caplog.text


async def test_sockets_are_pinged(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "PING_INTERVAL", 0.01)
    async with running() as running_, socket(running_.port) as client:
        for _ in range(2):
            await client.pinged()


async def test_the_bound_address_is_reported_and_free_again_after_the_stop():
    async with running() as running_:
        assert running_.bound == Bound("127.0.0.1", running_.port)
        assert running_.bound.url == f"http://127.0.0.1:{running_.port}"
        running_.stop.set()
        await running_.done.wait()
        bind("127.0.0.1", running_.port).close()


async def test_h8_nothing_is_logged_twice_or_at_all_for_a_good_request(
    server: Server, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    assert (await ask(server.port, "GET", "/api/health")).status == 200
    assert [entry for entry in caplog.records if entry.name.startswith(("hub", "hypercorn", "quart"))] == []
