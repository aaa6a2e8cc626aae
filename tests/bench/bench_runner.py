"""What the runner costs: the start of an agent, the way of its bytes, and the end of its processes.

Run with `python -m pytest tests/bench/bench_runner.py -m bench -s`. Prints figures, and never fails on a clock.
"""

from __future__ import annotations

import os
import signal
import statistics
import time
import uuid
from pathlib import Path

import pytest

from hub.io import processes
from hub.io.child import Output, RunnerClient, StdinMode, spawn_runner
from hub.io.commands import run_command
from tests.hub.io.runner_kit import DAEMON, claim_of, lines, script
from tests.waiting import changed, ends

pytestmark = pytest.mark.bench


def told(name: str, seconds: list[float]) -> None:
    """One line of milliseconds."""
    values = sorted(value * 1000 for value in seconds)
    print(
        f"\n{name}: min {values[0]:.1f}  median {statistics.median(values):.1f}  max {values[-1]:.1f} ms",
        end="",
    )


def fresh(tmp_path: Path) -> Path:
    return tmp_path / f"t-{uuid.uuid4().hex[:12]}"


def _smaps(pid: int) -> str:
    return Path(f"/proc/{pid}/smaps_rollup").read_text()


async def test_start(tmp_path):
    """spawn_runner -> returned (agent on record and let go), and -> the agent's first instruction."""
    returned, executed = [], []
    for _ in range(20):
        run_dir = fresh(tmp_path)
        launch = script("", argv=["/bin/sh", "-c", "date +%s.%N"], linger=0.0)
        began, began_wall = time.perf_counter(), time.time()
        await spawn_runner(run_dir, launch)
        returned.append(time.perf_counter() - began)
        await changed(run_dir, lambda path=run_dir: (path / "stdout.spool").read_bytes().count(b"\n") == 1)
        executed.append(float((run_dir / "stdout.spool").read_text()) - began_wall)
    told("spawn_runner returned", returned)
    told("agent executing", executed)


async def test_throughput(tmp_path):
    """A flood through pipe, spool, sync, socket and client."""
    run_dir, mib = fresh(tmp_path), 256
    text = f"import os\nchunk = b'x' * (1 << 20)\nfor _ in range({mib}):\n    left = chunk\n    while left: left = left[os.write(1, left):]"
    began = time.perf_counter()
    await spawn_runner(run_dir, script(text))
    size = 0
    async with RunnerClient(run_dir) as client:
        await client.attach()
        async for message in client:
            size += len(message.data) if isinstance(message, Output) else 0
    took = time.perf_counter() - began
    print(f"\nthroughput: {size / took / (1 << 20):.0f} MiB/s live ({took:.2f} s)", end="")
    assert size == mib << 20


async def test_line_latency(tmp_path):
    """One line to the agent and its answer back, each synced on the way."""
    run_dir, took = fresh(tmp_path), []
    await spawn_runner(
        run_dir, script("import sys\nfor line in sys.stdin: print(line, end='')", stdin=StdinMode.PIPE)
    )
    async with RunnerClient(run_dir) as client:
        await client.attach()
        for n in range(200):
            began = time.perf_counter()
            await client.write(f"k{n}", b"line\n")
            await lines(client, 1)
            took.append(time.perf_counter() - began)
        await client.close_stdin()
    told("write -> answer", took)
    await processes.sweep({run_dir.name})


@pytest.mark.parametrize("victim", ["pid", "guardianPid"])
async def test_end(tmp_path, victim):
    """kill -9 of a guard -> fifty daemonised descendants are gone."""
    took = []
    for _ in range(5):
        run_dir = fresh(tmp_path)
        await spawn_runner(run_dir, script(DAEMON + "for _ in range(50): daemon(False)\ntime.sleep(1000)"))
        async with RunnerClient(run_dir) as client:
            await client.attach()
            pids = [int(line) for line in await lines(client, 50)]
        claim = claim_of(run_dir)
        began = time.perf_counter()
        os.kill(claim[victim], signal.SIGKILL)
        await ends(*pids)
        took.append(time.perf_counter() - began)
    told(f"kill -9 of {victim} -> 50 descendants gone", took)


async def test_command(tmp_path):
    """An acceptance command that does nothing."""
    took = []
    for _ in range(20):
        began = time.perf_counter()
        await run_command("true", cwd=tmp_path)
        took.append(time.perf_counter() - began)
    told("run_command('true')", took)


async def test_memory(tmp_path):
    """What runner and guardian weigh: proportional set size."""
    run_dir = fresh(tmp_path)
    await spawn_runner(run_dir, script("input()", stdin=StdinMode.PIPE))
    claim = claim_of(run_dir)
    for name in ("pid", "guardianPid"):
        fields = dict(line.split(":", 1) for line in _smaps(claim[name]).splitlines()[1:])
        print(f"\n{name}: PSS {int(fields['Pss'].split()[0]) / 1024:.1f} MiB", end="")
    await processes.sweep({run_dir.name})
