"""An agent's line -> parsed -> redacted -> in the log -> ten WebSocket clients, through a real daemon.

The agent is a real child process that writes lines at a set rate under its runner; each line carries the moment it
was written. The clients live in this process and look at the bytes they receive. The daemon notes when it has read a line
from the runner's socket, so that its own part (parse, redact, log, send) stands beside the whole way, on which the runner
syncs the line to its spool.
Peer: the floor: the same lines from a pipe, synced to disk once (as the runner does with its spool), and sent on, with
nothing else in between.

The agent's lines wait up to four milliseconds to be gathered; one and a half, with which all figures were taken: 0.66 ->
0.44-0.59 ms of processor time for half a millisecond of p50. A line is synced to the spool by the runner before any client
sees it; the log's own sync follows (decision 0010). While one batch becomes durable the next one grows, and only the
commit waits in a thread: a thread that wrote the rows too would ask for the interpreter's lock once per row. With a
transaction per line only 310 of 1,000 a second got through.

What a client is sent goes to the kernel at once, without a lock, a deadline or a wait, unless the kernel does not take all
of it: p50 with ten clients 4.2 -> 2.1 ms. Clients that are up to date share one subscription and are written to in one pass
(`hub/web/feed.py`): 22 us per client, down from 43. Threads ask for the interpreter at each system call of the event loop
and kept it waiting for Python's own 5 ms; the interval is a fifth of a millisecond. Audit records are hashed eight in two
milliseconds while nobody waits behind them. The graph's reader folds events every 20 ms and writes them every half second;
with a transaction per line p99 was 24-44 ms. A sentence is tried only on patterns that have one of its words: 14 us per
event, down from 52. The daemon's share of a core is 0.79, down from 0.93. Of a line's 600 us with ten clients the writes
are a fifth, its way from the runner to the redacted event another third. What takes longer than 5 ms waits behind the audit
log's group.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from operator import sub
from pathlib import Path
from typing import Any
from unittest.mock import patch

import trio

from hub.cli.main import main
from hub.io.runner.wire import Decoder
from tests.bench.bench_events import SERVE, handshake
from tests.bench.bench_start import cpu_seconds
from tests.bench.table import Row, percentile, run
from tests.faults.harness import Project, project, until

RATE, SECONDS, CLIENTS = 1000, 6.0, 10
WARM_UP = 1.0
MEMORY = Path("/dev/shm")  # where Linux keeps files in memory
PEER = "pipe, one sync, socket"
NOTED = "--noted"

EMITTER = """
import json, sys, time
rate, seconds = float(sys.argv[1]), float(sys.argv[2])
out, text = sys.stdout, "x" * 120
burst = max(1, round(rate / 1000))
start, sent = time.monotonic(), 0
while sent < rate * seconds:
    for _ in range(burst):
        out.write(json.dumps({"type": "text", "text": f"at={time.monotonic_ns()} {text}"}) + "\\n")
    out.flush()
    sent += burst
    left = start + sent / rate - time.monotonic()
    if left > 0:
        time.sleep(left)
out.write(json.dumps({"type": "done", "text": "all sent"}) + "\\n")
out.flush()
time.sleep(600)
"""
_AT = re.compile(rb"at=(\d+) ")
_NOTE = struct.Struct("qq")
"""When the first line of one read was written, and when it was read."""


class Watch:
    """Clients as cheap as can be, all in one loop: they look for moments in the bytes they receive."""

    def __init__(self, port: int, clients: int, greeting: bytes = b"") -> None:
        self._written: list[int] = []
        self._came: list[int] = []  # numbers only: pairs would be looked through for garbage, 20 ms at a time
        self._ready = selectors.DefaultSelector()
        self._begun = 0
        for _ in range(clients):
            sock = socket.create_connection(("127.0.0.1", port))
            sock.sendall(greeting)
            sock.setblocking(False)
            self._ready.register(sock, selectors.EVENT_READ, [b"", 0])

    def read(self, expected: int, patience: float) -> None:
        """Until each client has seen `expected` lines.

        Raises:
            AssertionError: One was ended before, or it takes longer than `patience`.
        """
        until = time.monotonic() + patience
        with self._ready:
            while self._ready.get_map():
                assert time.monotonic() < until, "lines were lost"
                for key, _ in self._ready.select(1.0):
                    if self._take(key.fileobj, key.data) >= expected:
                        self._ready.unregister(key.fileobj)
                        key.fileobj.close()

    def _take(self, sock: Any, state: list[Any]) -> int:
        data = sock.recv(1 << 18)
        now = time.monotonic_ns()
        assert data, "a client was sent away"
        data = state[0] + data
        whole = data.rfind(b"}") + 1  # a number cut in two stays for the next read
        data, state[0] = data[:whole], data[whole:]
        found = [int(at) for at in _AT.findall(data)]
        if not self._begun and found:
            self._begun = found[0] + int(WARM_UP * 1e9)
        counted = [at for at in found if at > self._begun]
        self._written += counted
        self._came += [now] * len(counted)
        state[1] += len(found)
        return int(state[1])

    def percentiles(self) -> dict[str, float]:
        """From the agent's write to the client's read, in milliseconds."""
        return _percentiles(map(sub, self._came, self._written))

    def percentiles_since(self, notes: Path) -> dict[str, float]:
        """From the daemon's reading of the line to the client's."""
        first, read = zip(*sorted(_NOTE.iter_unpack(notes.read_bytes())), strict=True)
        taken = (read[bisect_right(first, at) - 1] for at in self._written)
        return _percentiles(map(sub, self._came, taken))


def _percentiles(nanoseconds: Iterable[int]) -> dict[str, float]:
    delays = list(nanoseconds)
    return {
        "p50_ms": round(percentile(delays, 0.5) / 1e6, 2),
        "p99_ms": round(percentile(delays, 0.99) / 1e6, 2),
    }


def agent(made: Project, rate: float, seconds: float) -> Path:
    """A program that takes the place of the demo agent's interpreter: it says the protocol's first line itself."""
    folder = made.root.parent
    (folder / "emit.py").write_text(EMITTER)
    program = folder / "agent"
    first = json.dumps(
        {"type": "start", "session": "bench", "dispatchId": "d", "model": "m", "resumed": False, "step": 0}
    )
    program.write_text(
        f"#!/bin/sh\necho '{first}'\nexec {sys.executable} -S -E {folder}/emit.py {rate} {seconds}\n"
    )
    program.chmod(0o755)
    return program


def measure(
    folder: Path, rate: float = RATE, seconds: float = SECONDS, clients: int = CLIENTS, *, batch: bool = False
) -> dict[str, Any]:
    """Percentiles from the agent's write to the client's read, and the rate that got through."""
    folder.mkdir(exist_ok=True)
    notes = folder / "notes"
    command = [sys.executable, "-m", "tests.bench.bench_pipeline", NOTED, str(notes)]
    with patch("tests.faults.harness.HUB", command), project(folder) as made:
        made.forked = False
        program = agent(made, rate, seconds)
        text = f'[providers.demo-first]\nenabled = true\nprogram = "{program}"\n[session]\nchain = ["demo-first"]\n'
        (made.root / "hub.toml").write_text(text)
        api = made.start()
        watch = Watch(made.port, clients, handshake(made.port, batch=batch))
        time.sleep(0.5)
        api.post("/api/run", {"task": "emit"})
        begun, used = time.monotonic(), cpu_seconds(made.daemon.pid)
        expected = int(rate * seconds)
        watch.read(expected, 60 + 4 * seconds)
        took, used = time.monotonic() - begun, cpu_seconds(made.daemon.pid) - used
        until(made.ended, "the session ends")
    return {
        **watch.percentiles(),
        "daemon": watch.percentiles_since(notes),
        "through_per_s": round(expected / took),
        "cpu_us_per_event": round(used / expected * 1e6),
    }


def noted(path: str) -> None:
    """The daemon's process: hub as it is, but for a note of each read."""
    feed, notes = Decoder.feed, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def noting(self: Decoder, data: bytes) -> Any:
        now = time.monotonic_ns()
        if first := _AT.search(data):
            os.write(notes, _NOTE.pack(int(first[1]), now))
        return feed(self, data)

    with patch.object(Decoder, "feed", noting):
        main()


def floor(
    folder: Path, rate: float = RATE, seconds: float = SECONDS, clients: int = CLIENTS
) -> dict[str, Any]:
    """The peer: the emitter's lines read from a pipe, synced, and sent on to each client as they come."""
    words = [SERVE, str(folder / "floor"), str(rate), str(seconds), str(clients)]
    command = [sys.executable, "-m", "tests.bench.bench_pipeline", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        watch = Watch(int(server.stdout.readline()), clients)
        watch.read(int(rate * seconds), 60 + 4 * seconds)
    return watch.percentiles()


async def serve_floor(path: str, rate: str, seconds: str, clients: str) -> None:
    """The peer's process."""
    argv = [sys.executable, "-S", "-E", "-c", EMITTER, rate, seconds]
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    print(listener.socket.getsockname()[1], flush=True)
    ends = [await listener.accept() for _ in range(int(clients))]
    process = await trio.lowlevel.open_process(argv, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with await trio.to_thread.run_sync(partial(Path(path).open, "wb", buffering=0)) as file:
        async for data in process.stdout:
            file.write(data)
            await trio.to_thread.run_sync(os.fdatasync, file.fileno())
            for end in ends:
                await end.send_all(data)
            if b'"done"' in data:
                break
    process.kill()
    await process.wait()


CASES = ((1000, 10, False), (1000, 10, True), (5000, 1, True), (8000, 1, True))


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Each rate and number of clients, on the floor and through hub."""
    yield from _cases(folder, scale, "")
    if MEMORY.is_dir():
        # The disk's own latency is as large as all the rest: here is the rest alone, parse -> redact -> log -> client.
        with tempfile.TemporaryDirectory(dir=MEMORY) as memory:
            yield from _cases(Path(memory), scale, ", files in memory")


def _cases(folder: Path, scale: float, where: str) -> Iterator[Row]:
    least, seconds = WARM_UP + 0.5, SECONDS * scale
    for number, (rate, clients, batch) in enumerate(CASES):
        peer = floor(folder, rate, max(least, seconds / 2), clients)
        ours = measure(folder / f"case{number}", rate, max(least, seconds), clients, batch=batch)
        what = f"agent's line to {clients} client(s), {rate}/s{', in batches' * batch}{where}"
        yield Row(f"{what}: p50", ours["p50_ms"], "ms", "", PEER, peer["p50_ms"])
        yield Row(f"{what}: p99", ours["p99_ms"], "ms", "", PEER, peer["p99_ms"])
        theirs = ours["daemon"]
        yield Row(f"{what}: of it parse, redact, log, send: p50", theirs["p50_ms"], "ms")
        target = "< 5" if rate == RATE else ""  # beyond it, what comes waits to be taken together
        yield Row(f"{what}: of it parse, redact, log, send: p99", theirs["p99_ms"], "ms", target)
        yield Row(f"{what}: got through", ours["through_per_s"], "/s")
        yield Row(f"{what}: processor an event", ours["cpu_us_per_event"], "us")


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        trio.run(serve_floor, *sys.argv[2:])
    elif sys.argv[1:2] == [NOTED]:
        path = sys.argv[2]
        sys.argv[1:3] = []
        noted(path)
    else:
        run(rows)
