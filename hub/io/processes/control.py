"""Processes as the daemon sees them: who is alive, who belongs to which run, and ending what was left over.

Owns: `Identity`, finding processes by their run id, the sweep after a crash, and the end of a process that the user has
named: ask, wait, then kill.
Must not: signal a number whose identity was not checked, or choose one to end that carries no run id of hub.

Tests: tests/hub/io/processes/test_ending.py
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import attrs
import trio

from hub.io.runner import proc

RUN_ID = "HUB_RUN_ID"
"""The variable by which hub knows the processes of a run."""
_SWEEP_SECONDS = 2.0
_ROUND = 0.01


@attrs.frozen
class Identity:
    """One process for ever: its number may be given to another, these three together are not."""

    pid: int
    starttime: int
    """Ticks since boot (field 22 of `/proc/<pid>/stat`)."""
    boot_id: str


def identity_of(pid: int) -> Identity | None:
    """The identity of a living process; None when there is none (a zombie is none).

    Raises:
        OSError: No file can be opened (EMFILE), so nobody can tell: a runner must not be taken for dead.
    """
    started = proc.starttime(pid)
    if started is None:
        os.close(os.open("/proc", os.O_RDONLY | os.O_CLOEXEC))
        started = proc.starttime(pid)
    return None if started is None else Identity(pid, started, proc.boot_id())


def is_alive(identity: Identity) -> bool:
    """Whether exactly that process still runs."""
    return identity_of(identity.pid) == identity


def send_signal(identity: Identity, number: int) -> bool:
    """Signal exactly that process; False when it is gone.

    Raises:
        PermissionError: It belongs to another user.
    """
    if not is_alive(identity):
        return False
    return proc.send(identity.pid, identity.starttime, number)


def find_by_env(run_ids: Collection[str]) -> list[Identity]:
    """Every process started with one of these run ids in its environment."""
    pids = [pid for pid, run_id in _run_ids() if run_id in run_ids and pid != os.getpid()]
    return [identity for pid in pids if (identity := identity_of(pid))]


def _run_ids() -> Iterator[tuple[int, str]]:
    mark = f"{RUN_ID}=".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # gone, or another user's
        for variable in variables:
            if variable.startswith(mark):
                yield int(entry.name), variable[len(mark) :].decode("utf-8", "replace")


async def sweep(run_ids: Collection[str]) -> None:
    """End every process of runs whose runner is dead, and wait until they are gone (two seconds at most).

    A live run's id must not be given: its runner and guardian carry it too, and would be ended with it. Another user's
    processes are passed over.
    """
    with trio.move_on_after(_SWEEP_SECONDS):
        while run_ids and (left := find_by_env(run_ids)):
            for identity in left:
                with contextlib.suppress(PermissionError):
                    send_signal(identity, signal.SIGKILL)
            await trio.sleep(_ROUND)


GRACE = 10.0
"""Seconds a program has to write down what it was doing."""
_KILLED = 5.0
_LOOK = 0.05


def with_all_below(heads: Iterable[Identity]) -> tuple[Identity, ...]:
    """Those processes that still run, and all that they have started."""
    found: dict[int, Identity] = {}
    for head in heads:
        if is_alive(head):
            found.setdefault(head.pid, head)
            for pid in (pid for pid, _ in proc.descendants(head.pid)):
                one = identity_of(pid)
                if one is not None:
                    found.setdefault(pid, one)
    return tuple(found.values())


async def end(processes: Iterable[Identity], grace: float = GRACE) -> bool:
    """End them: SIGTERM, then after `grace` seconds SIGKILL. Whether all of them are gone.

    Raises:
        PermissionError: One belongs to another user.
    """
    left = tuple(processes)
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, _KILLED)):
        for one in left:
            send_signal(one, number)
        with trio.move_on_after(patience):
            while any(map(is_alive, left)):  # noqa: ASYNC110  # not hub's children: nobody tells of their end
                await trio.sleep(_LOOK)
        left = tuple(filter(is_alive, left))
        if not left:
            break
    return not left
