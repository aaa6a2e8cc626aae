"""An agent's line -> parsed -> redacted -> in the log -> ten WebSocket clients, through a real daemon.

The agent is a real child process that writes lines at a set rate under its runner; each line carries the moment it
was written. The clients live in this process and look at the bytes they receive.
Peer: the floor: the same lines from a pipe, synced to disk once (as the runner does with its spool), and sent on, with
nothing else in between.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import trio

from tests.bench.bench_events import handshake
from tests.bench.table import Row, run
from tests.faults.harness import Project, project, until

RATE, SECONDS, CLIENTS = 1000, 6.0, 10
WARM_UP = 1.0
MEMORY = Path("/dev/shm")  # where Linux keeps files in memory
PEER = "pipe, one sync, socket"

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


@attrs.define
class Seen:
    """What one client saw."""

    delays: list[int] = attrs.field(factory=list)
    count: int = 0


async def client(port: int, batch: bool, expected: int, seen: Seen) -> None:
    """Reads until every line has come."""
    begun = 0
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(handshake(port, batch=batch))
        rest = b""
        while seen.count < expected:
            data = rest + await stream.receive_some(1 << 18)
            now = time.monotonic_ns()
            whole = data.rfind(b"}") + 1
            data, rest = data[:whole], data[whole:]
            found = [int(at) for at in _AT.findall(data)]
            if not begun and found:
                begun = found[0] + int(WARM_UP * 1e9)
            seen.count += len(found)
            seen.delays += [now - at for at in found if at > begun]


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
    with project(folder) as made:
        program = agent(made, rate, seconds)
        text = f'[providers.demo-first]\nenabled = true\nprogram = "{program}"\n[session]\nchain = ["demo-first"]\n'
        (made.root / "hub.toml").write_text(text)
        api = made.start()
        expected = int(rate * seconds)
        seen = [Seen() for _ in range(clients)]

        async def run() -> float:
            with trio.fail_after(60 + 4 * seconds):
                async with trio.open_nursery() as nursery:
                    for one in seen:
                        nursery.start_soon(client, made.port, batch, expected, one)
                    await trio.sleep(0.5)
                    await trio.to_thread.run_sync(api.post, "/api/run", {"task": "emit"})
                    begun = time.monotonic()
            return time.monotonic() - begun

        assert made.daemon is not None
        used = cpu(made.daemon.pid)
        took = trio.run(run)
        used = cpu(made.daemon.pid) - used
        until(made.ended, "the session ends")
    delays = sorted(delay for one in seen for delay in one.delays)
    return {
        "rate": rate,
        "clients": clients,
        "p50_ms": round(delays[len(delays) // 2] / 1e6, 2),
        "p99_ms": round(delays[len(delays) * 99 // 100] / 1e6, 2),
        "max_ms": round(delays[-1] / 1e6, 1),
        "through_per_s": round(expected / took),
        "daemon_core": round(used / took, 2),
        "cpu_us_per_event": round(used / expected * 1e6),
    }


def cpu(pid: int) -> float:
    """Seconds of processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def floor(
    folder: Path, rate: float = RATE, seconds: float = SECONDS, clients: int = CLIENTS
) -> dict[str, Any]:
    """The peer: the emitter's lines read from a pipe, synced, and sent on to each client as they come."""
    delays: list[int] = []

    async def reader(stream: trio.SocketStream) -> None:
        async with stream:
            while data := await stream.receive_some(1 << 18):
                now = time.monotonic_ns()
                delays.extend(now - int(at) for at in _AT.findall(data))

    async def run() -> None:
        argv = [sys.executable, "-S", "-E", "-c", EMITTER, str(rate), str(seconds)]
        async with trio.open_nursery() as nursery:
            listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
            ends = []
            for _ in range(clients):
                nursery.start_soon(reader, await trio.open_tcp_stream(*listener.socket.getsockname()[:2]))
                ends.append(await listener.accept())
            process = await trio.lowlevel.open_process(argv, stdout=subprocess.PIPE)
            assert process.stdout is not None
            async for data in process.stdout:
                file.write(data)
                await trio.to_thread.run_sync(os.fdatasync, file.fileno())
                for end in ends:
                    await end.send_all(data)
                if b'"done"' in data:
                    break
            process.kill()
            await process.wait()
            await process.stdout.aclose()
            for end in ends:
                await end.aclose()
            await listener.aclose()

    with (folder / "floor").open("wb", buffering=0) as file:
        trio.run(run)
    delays.sort()
    return {
        "p50_ms": round(delays[len(delays) // 2] / 1e6, 2),
        "p99_ms": round(delays[len(delays) * 99 // 100] / 1e6, 2),
    }


CASES = ((1000, 10, False), (1000, 10, True), (5000, 1, True), (8000, 1, True))


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Each rate and number of clients, on the floor and through hub."""
    yield from _cases(folder, scale, "")
    if MEMORY.is_dir():
        # The disk's own latency is as large as all the rest: here is the rest alone, parse -> redact -> log -> client.
        with tempfile.TemporaryDirectory(dir=MEMORY) as memory:
            yield from _cases(Path(memory), scale, ", files in memory")


def _cases(folder: Path, scale: float, where: str) -> Iterator[Row]:
    seconds = max(WARM_UP + 0.5, SECONDS * scale)
    for number, (rate, clients, batch) in enumerate(CASES):
        peer = floor(folder, rate, max(WARM_UP, seconds / 2), clients)
        ours = measure(folder / f"case{number}", rate, seconds, clients, batch=batch)
        what = f"agent's line to {clients} client(s), {rate}/s{', in batches' * batch}{where}"
        yield Row(f"{what}: p50", ours["p50_ms"], "ms", "", PEER, peer["p50_ms"])
        yield Row(f"{what}: p99", ours["p99_ms"], "ms", "< 5", PEER, peer["p99_ms"])
        yield Row(f"{what}: got through", ours["through_per_s"], "/s")
        yield Row(f"{what}: processor an event", ours["cpu_us_per_event"], "us")


if __name__ == "__main__":
    run(rows)
