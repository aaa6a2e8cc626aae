"""Processes as the daemon sees them: who is alive, who belongs to which run, and ending what was left over.

Owns: `Identity`, finding processes by their run id, and the sweep after a crash.
Must not: signal a number whose identity was not checked, or end anything that does not carry a run id of hub.

Where there is no `/proc` (macOS), psutil answers instead: identities come from the creation time, signals
are sent by number right after the check, and a process that cleared its environment or belongs to another
user is not found.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Collection
from pathlib import Path

import attrs
import trio

from hub.io import runner_proc

RUN_ID = "HUB_RUN_ID"
_SWEEP_SECONDS = 2.0


@attrs.frozen
class Identity:
    """One process for ever: its number may be given to another, these three together are not."""

    pid: int
    starttime: int
    """Ticks since boot (field 22 of `/proc/<pid>/stat`)."""
    boot_id: str


@attrs.frozen
class Swept:
    """A process that the sweep has ended."""

    run_id: str
    pid: int
    name: str


def identity_of(pid: int) -> Identity | None:
    """The identity of a living process; None when there is none (a zombie is none)."""
    started = runner_proc.starttime(pid) if runner_proc.LINUX else _created(pid)
    return None if started is None else Identity(pid, started, runner_proc.boot_id())


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
    if runner_proc.LINUX:
        return runner_proc.send(identity.pid, identity.starttime, number)
    with contextlib.suppress(ProcessLookupError):
        os.kill(identity.pid, number)
        return True
    return False


def descendants(pid: int) -> list[Identity]:
    """Every living process below `pid`, parents first."""
    boot = runner_proc.boot_id()
    found = runner_proc.descendants(pid) if runner_proc.LINUX else _below(pid)
    return [Identity(one, started, boot) for one, started in found]


def find_by_env(run_ids: Collection[str]) -> list[tuple[str, Identity]]:
    """Every process that was started with one of these run ids in its environment, as (run id, identity)."""
    if not runner_proc.LINUX:
        return _find_by_env(run_ids)
    wanted = {f"{RUN_ID}={one}".encode(): one for one in run_ids}
    found: list[tuple[str, Identity]] = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            variables = Path(entry.path, "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # gone, or another user's
        for variable in variables:
            if variable in wanted and (identity := identity_of(int(entry.name))):
                found.append((wanted[variable], identity))
                break
    return found


async def sweep(run_ids: Collection[str]) -> list[Swept]:
    """End every process of runs whose runner is dead, and wait until they are gone (two seconds at most).

    A live run's id must not be given: its runner and guardian carry it too, and would be ended with it.
    """
    swept: dict[Identity, Swept] = {}
    if not run_ids:
        return []
    with trio.move_on_after(_SWEEP_SECONDS):
        while left := find_by_env(run_ids):
            for run_id, identity in left:
                name = runner_proc.command_name(identity.pid)
                with contextlib.suppress(PermissionError):
                    if send_signal(identity, signal.SIGKILL):
                        swept.setdefault(identity, Swept(run_id, identity.pid, name))
            await trio.sleep(0.01)
    return list(swept.values())


if sys.platform != "linux":
    import psutil

    def _created(pid: int) -> int | None:
        try:
            process = psutil.Process(pid)
            return None if process.status() == psutil.STATUS_ZOMBIE else int(process.create_time() * 100)
        except psutil.Error:
            return None

    def _below(pid: int) -> list[tuple[int, int]]:
        try:
            below = psutil.Process(pid).children(recursive=True)
        except psutil.Error:
            return []
        return [(one.pid, started) for one in below if (started := _created(one.pid)) is not None]

    def _find_by_env(run_ids: Collection[str]) -> list[tuple[str, Identity]]:
        found: list[tuple[str, Identity]] = []
        for process in psutil.process_iter():
            try:
                run_id = process.environ().get(RUN_ID, "")
            except psutil.Error:
                continue
            if run_id in run_ids and (identity := identity_of(process.pid)) and process.pid != os.getpid():
                found.append((run_id, identity))
        return found

else:

    def _created(pid: int) -> int | None:
        return runner_proc.starttime(pid)

    def _below(pid: int) -> list[tuple[int, int]]:
        return runner_proc.descendants(pid)

    def _find_by_env(run_ids: Collection[str]) -> list[tuple[str, Identity]]:
        return find_by_env(run_ids)
