"""What the runner's tests share: real agents made of a few lines of Python, and waiting without sleeping."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

from hub.io.processes import control
from hub.io.runner.client import RunnerClient, spawn_runner
from hub.io.runner.launch import AgentLaunch, StopGraces
from hub.io.runner.view import (
    ErrorOutput,
    Message,
    Output,
    RunEnd,
    RunEnded,
    RunnerStatus,
    SpoolReader,
    WriteTaken,
    inspect,
)
from tests.waiting import changed

QUICK = StopGraces(interrupt=0.2, terminate=0.2, kill=0.5)

# Starts a process that left the agent's session and group, is nobody's child, ignores what can be ignored, and
# tells its pid on stdout before the agent goes on. `keep` says whether it keeps the agent's stdout open.
DAEMON = """
import os, signal, sys, time
def daemon(keep):
    told, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(n, signal.SIG_IGN)
            os.write(1, b"%d\\n" % os.getpid())
            os.close(tell)
            if not keep:
                null = os.open("/dev/null", os.O_RDWR)
                for fd in (0, 1, 2): os.dup2(null, fd)
            while True: time.sleep(1000)
        os._exit(0)
    os.close(tell)
    os.read(told, 1)
    os.close(told)
    os.wait()
"""


def script(text: str, **fields: object) -> AgentLaunch:
    """An agent that runs these lines of Python."""
    base = {
        "argv": [sys.executable, "-I", "-S", "-u", "-c", text],
        "env": {"PATH": os.defpath},
        "cwd": Path("/"),
        "graces": QUICK,
        "drain": 0.3,
        "linger": 0.5,
    }
    return AgentLaunch(**{**base, **fields})


@attrs.define
class Heard:
    """All that a client heard, in order."""

    messages: list[Message] = attrs.field(factory=list)

    def of(self, kind: type) -> list:
        return [one for one in self.messages if isinstance(one, kind)]

    @property
    def stdout(self) -> bytes:
        return b"".join(one.data for one in self.of(Output))

    @property
    def stderr(self) -> bytes:
        return b"".join(one.data for one in self.of(ErrorOutput))

    @property
    def statuses(self) -> list[RunnerStatus]:
        return self.of(RunnerStatus)

    @property
    def taken(self) -> list[tuple[str, str]]:
        return [(one.key, one.result) for one in self.of(WriteTaken)]

    @property
    def verdict(self) -> RunEnd:
        return self.of(RunEnd)[-1]


@asynccontextmanager
async def attached(run_dir: Path, launch: AgentLaunch | None = None) -> AsyncIterator[RunnerClient]:
    """A client that has attached from the first byte; with a launch, to a runner that is started for it."""
    if launch is not None:
        assert await spawn_runner(run_dir, launch)
    async with RunnerClient(run_dir) as client:
        await client.attach()
        yield client


async def listen(client: RunnerClient, until: Callable[[Heard], bool] = lambda _: False) -> Heard:
    """Read until the condition holds, or to the verdict."""
    heard = Heard()
    with trio.fail_after(20):
        async for message in client:
            heard.messages.append(message)
            if until(heard):
                break
    return heard


async def lines(client: RunnerClient, count: int) -> list[str]:
    """The first lines of stdout."""
    heard = await listen(client, lambda heard: heard.stdout.count(b"\n") >= count)
    return heard.stdout.decode().splitlines()


async def run_to_end(run_dir: Path, launch: AgentLaunch) -> Heard:
    """Start, and read everything."""
    async with attached(run_dir, launch) as client:
        heard = await listen(client)
        await client.detach()
    return heard


async def verdict_written(run_dir: Path) -> RunEnded:
    """The end of a run, once it is on disk."""
    await changed(run_dir, lambda: isinstance(inspect(run_dir), RunEnded))
    state = inspect(run_dir)
    assert isinstance(state, RunEnded)
    return state


def claim_of(run_dir: Path) -> dict[str, int]:
    """The numbers of a runner and its guardian."""
    return json.loads((run_dir / "claim").read_text())


def spooled(run_dir: Path) -> list[Output | ErrorOutput]:
    """All that a dead runner has left of what its agent said."""
    with contextlib.closing(SpoolReader(run_dir, 0, 0)) as spool:
        return [chunk for chunks in iter(spool.next, []) for chunk in chunks]


def told_at_the_end(run_dir: Path) -> dict:
    """All that the runner has written down of the run's end."""
    return json.loads((run_dir / "verdict.json").read_text())


def gone(*pids: int) -> bool:
    """Whether none of them runs."""
    return all(control.identity_of(pid) is None for pid in pids)
