"""What the runner costs: the start of an agent, the way of its bytes, and the end of its processes.

Peer: for a command, `posix_spawn` of the same shell; a process that outlives its daemon has no other.
"""

from __future__ import annotations

import os
import signal
import statistics
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import trio

from hub.io.processes import control
from hub.io.processes.commands import run_command
from hub.io.runner.client import spawn_runner
from hub.io.runner.view import Output
from tests.bench.table import Row, at_least, run
from tests.hub.io.runner.kit import DAEMON, attached, claim_of, lines, script
from tests.waiting import changed, ends

PEER = "`posix_spawn` of the same, waited for"


def fresh(folder: Path) -> Path:
    """A run directory of its own."""
    return folder / f"t-{uuid.uuid4().hex[:12]}"


async def starts(folder: Path, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds until spawn_runner returned (the agent on record and let go), and to its first instruction."""
    returned, executed = [], []
    for _ in range(count):
        run_dir = fresh(folder)
        launch = script("", argv=["/bin/sh", "-c", "date +%s.%N"], linger=0.0)
        began, began_wall = time.perf_counter(), time.time()
        await spawn_runner(run_dir, launch)
        returned.append((time.perf_counter() - began) * 1e3)
        await changed(run_dir, lambda path=run_dir: (path / "stdout.spool").read_bytes().count(b"\n") == 1)
        executed.append((float((run_dir / "stdout.spool").read_text()) - began_wall) * 1e3)
    return returned, executed


async def throughput(folder: Path, mib: int) -> float:
    """MiB a second of a flood through pipe, spool, sync, socket and client."""
    run_dir = fresh(folder)
    text = f"import os\nchunk = b'x' * (1 << 20)\nfor _ in range({mib}):\n    left = chunk\n    while left: left = left[os.write(1, left):]"
    began = time.perf_counter()
    size = 0
    async with attached(run_dir, script(text)) as client:
        async for message in client:
            size += len(message.data) if isinstance(message, Output) else 0
    assert size == mib << 20
    return mib / (time.perf_counter() - began)


async def echoes(folder: Path, count: int) -> list[float]:
    """Milliseconds of one line to the agent and its answer back, each synced on the way."""
    run_dir, took = fresh(folder), []
    echo = script("import sys\nfor line in sys.stdin: print(line, end='')", stdin="pipe")
    async with attached(run_dir, echo) as client:
        for n in range(count):
            began = time.perf_counter()
            await client.write(f"k{n}", b"line\n")
            await lines(client, 1)
            took.append((time.perf_counter() - began) * 1e3)
        await client.close_stdin()
    await control.sweep({run_dir.name})
    return took


async def ending(folder: Path, victim: str, count: int) -> list[float]:
    """Milliseconds from kill -9 of a guard until fifty daemonised descendants are gone."""
    took = []
    for _ in range(count):
        run_dir = fresh(folder)
        fifty = script(DAEMON + "for _ in range(50): daemon(False)\ntime.sleep(1000)")
        async with attached(run_dir, fifty) as client:
            pids = [int(line) for line in await lines(client, 50)]
        claim = claim_of(run_dir)
        began = time.perf_counter()
        os.kill(claim[victim], signal.SIGKILL)
        await ends(*pids)
        took.append((time.perf_counter() - began) * 1e3)
    return took


def shell_alone() -> float:
    """Milliseconds of the least that runs a command."""
    began = time.perf_counter()
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}), 0)
    return (time.perf_counter() - began) * 1e3


async def commands(folder: Path, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds of an acceptance command that does nothing, and of the shell alone."""
    took, peer = [], []
    for _ in range(count):
        began = time.perf_counter()
        await run_command("true", cwd=folder)
        took.append((time.perf_counter() - began) * 1e3)
        peer.append(shell_alone())
    return took, peer


def pss(pid: int) -> float:
    """Proportional set size of a process in MiB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) / 1024


async def weights(folder: Path) -> list[float]:
    """MiB of runner and guardian: proportional set size."""
    run_dir = fresh(folder)
    await spawn_runner(run_dir, script("input()", stdin="pipe"))
    claim = claim_of(run_dir)
    found = [pss(claim[name]) for name in ("pid", "guardianPid")]
    await control.sweep({run_dir.name})
    return found


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Start, bytes, end, weight; medians."""
    returned, executed = trio.run(starts, folder, at_least(2, 20, scale))
    yield Row("runner: spawn to the agent on record", statistics.median(returned), "ms")
    yield Row("runner: spawn to the agent's first instruction", statistics.median(executed), "ms")
    yield Row("runner: a flood of output", trio.run(throughput, folder, at_least(8, 256, scale)), "MiB/s")
    echo = trio.run(echoes, folder, at_least(10, 200, scale))
    yield Row("runner: a line in and its answer out", statistics.median(echo), "ms")
    for victim, name in (("pid", "runner"), ("guardianPid", "guardian")):
        took = trio.run(ending, folder, victim, at_least(1, 5, scale))
        yield Row(f"kill -9 of the {name} to 50 descendants gone", statistics.median(took), "ms", "<= 1000")
    took, peer = map(statistics.median, trio.run(commands, folder, at_least(2, 20, scale)))
    yield Row("an acceptance command that does nothing", took, "ms", "", PEER, peer)
    for name, weight in zip(("runner", "guardian"), trio.run(weights, folder), strict=True):
        yield Row(f"{name}: memory", weight, "MiB")


if __name__ == "__main__":
    run(rows)
