"""Events to many clients: publish -> receipt over WebSocket, from a synthetic source of 1,000 events a second.

Each server runs in a process of its own on one core, all clients together on another; the clock is the system's
monotonic one, the same in both.
Peer: a bare Trio TCP server that makes each frame once and joins what is queued into one write, without HTTP, guard,
bounds or close codes.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from hub.domain.event import Record
from hub.web.doors import Bound, Doors
from hub.web.encoder import Encoder
from hub.web.server import serve
from tests.bench.table import Row, run

RATE = 1000
SECONDS = 5.0
WARM_UP = 1.0
SERVE = "--serve"
PEER = "bare Trio TCP"
CASES = ((1, False), (10, False), (10, True), (100, True))


@attrs.define
class View:
    channel: trio.MemoryReceiveChannel[Sequence[Record]]
    lagged: trio.Event


class Source:
    """A log that says something every millisecond."""

    def __init__(self) -> None:
        self.readers: set[trio.MemorySendChannel[Sequence[Record]]] = set()

    @asynccontextmanager
    async def subscribe(self, since: int | None) -> AsyncIterator[View]:
        send, receive = trio.open_memory_channel[Sequence[Record]](4096)
        self.readers.add(send)
        try:
            yield View(receive, trio.Event())
        finally:
            self.readers.discard(send)

    async def run(self) -> None:
        number, start = 0, trio.current_time()
        while True:
            number += 1
            meta = {
                "at": time.monotonic_ns(),
                "sessionId": "s-20261121-000000",
                "provider": "claude",
                "tool": "Bash",
            }
            records = [Record(number, "12:00:00.000", "tool_result", "x" * 180, meta)]
            for send in self.readers:
                send.send_nowait(records)
            await trio.sleep_until(start + number / RATE)


async def floor(source: Source, *, task_status: trio.TaskStatus[Bound]) -> None:
    """The peer."""
    encoder = Encoder()

    async def client(stream: trio.SocketStream) -> None:
        await stream.receive_some(65536)
        await stream.send_all(b"HTTP/1.1 101 \r\nUpgrade: websocket\r\n\r\n")
        with suppress(trio.BrokenResourceError):
            async with source.subscribe(None) as view:
                while True:
                    records = list(await view.channel.receive())
                    with suppress(trio.WouldBlock):
                        while True:
                            records += view.channel.receive_nowait()
                    await stream.send_all(b"".join(map(encoder.frame, records)))

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    task_status.started(Bound(*listeners[0].socket.getsockname()[:2]))
    await trio.serve_listeners(client, listeners)


async def serving(name: str) -> None:
    """The server's process: prints its port, and at the end how much of a core it used."""
    source: Any = Source()
    start = partial(floor, source) if name == "floor" else partial(serve, source, trio.Event(), Doors(port=0))
    async with trio.open_nursery() as nursery:
        bound = await nursery.start(start)
        nursery.start_soon(source.run)
        print(bound.port, flush=True)
        await trio.to_thread.run_sync(sys.stdin.readline)
        before, since = time.process_time(), time.monotonic()
        await trio.to_thread.run_sync(sys.stdin.readline)
        print((time.process_time() - before) / (time.monotonic() - since), flush=True)
        nursery.cancel_scope.cancel()


@attrs.define
class Seen:
    """What the clients saw."""

    delays: list[int] = attrs.field(factory=list)
    lost: int = 0


_AT = re.compile(rb'"at":(\d+)')
_ID = re.compile(rb'"id":(\d+)')


def handshake(port: int, *, batch: bool) -> bytes:
    """The request that opens a WebSocket on the event log."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET /ws{'?batch=1' * batch} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    ).encode()


async def client(port: int, batch: bool, until: float, seen: Seen) -> None:
    """A client as cheap as can be: it looks for ids and times in the bytes."""
    begun = time.monotonic_ns() + WARM_UP * 1e9
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(handshake(port, batch=batch))
        rest, ids = b"", 0
        with suppress(trio.TooSlowError), trio.fail_at(until):
            while True:
                data = rest + await stream.receive_some(1 << 18)
                now = time.monotonic_ns()
                whole = data.rfind(b"}") + 1  # a number cut in two stays for the next read
                data, rest = data[:whole], data[whole:]
                found = [int(number) for number in _ID.findall(data)]
                for number in found:
                    seen.lost += number - ids - 1 if ids else 0
                    ids = number
                if now > begun:
                    seen.delays += [now - int(at) for at in _AT.findall(data)]


async def measure(name: str, clients: int, batch: bool, seconds: float = SECONDS) -> dict[str, Any]:
    """Percentiles in milliseconds, and the server's share of a core."""
    cores, seen = sorted(os.sched_getaffinity(0)), Seen()
    with subprocess.Popen(  # noqa: ASYNC220  # nothing else runs meanwhile
        [sys.executable, "-m", "tests.bench.bench_events", SERVE, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as server:
        assert server.stdin
        assert server.stdout
        os.sched_setaffinity(server.pid, {cores[0]})
        os.sched_setaffinity(0, {cores[-1]})
        port = int(server.stdout.readline())
        server.stdin.write("\n")
        until = trio.current_time() + WARM_UP + seconds
        async with trio.open_nursery() as nursery:
            for _ in range(clients):
                nursery.start_soon(client, port, batch, until, seen)
        server.stdin.write("\n")
        share = float(server.stdout.readline())
        os.sched_setaffinity(0, cores)
    delays = sorted(seen.delays)
    assert not seen.lost, f"{seen.lost} events were lost"
    return {
        "p50_ms": round(delays[len(delays) // 2] / 1e6, 2),
        "p99_ms": round(delays[len(delays) * 99 // 100] / 1e6, 2),
        "server_core": round(share, 2),
    }


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Each case on the floor and on hub."""
    seconds = max(0.5, SECONDS * scale)
    for clients, batch in CASES:
        floor, ours = (trio.run(measure, name, clients, batch, seconds) for name in ("floor", "hub"))
        what = f"WebSocket, {clients} client(s), {RATE}/s{', in batches' * batch}"
        yield Row(f"{what}: p50", ours["p50_ms"], "ms", "", PEER, floor["p50_ms"])
        target = "< 5" if clients <= 10 else "< 50"
        yield Row(f"{what}: p99", ours["p99_ms"], "ms", target, PEER, floor["p99_ms"])
        yield Row(f"{what}: server", ours["server_core"], "cores", "", PEER, floor["server_core"])


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        trio.run(serving, sys.argv[2])
    else:
        run(rows)
