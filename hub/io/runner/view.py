"""What a daemon sees of a run: the typed messages of a live runner, and the files of a dead one.

Owns: the message and verdict values, `inspect` (the question of every recovery) and `SpoolReader`.
Must not: start, signal or connect to anything.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import attrs

from hub.io.files.sealed import NotSealed, run_key
from hub.io.processes.control import Identity, is_alive
from hub.io.runner import files as runner_files

_BATCH_CHUNKS = 512
_BATCH_BYTES = 1024 * 1024


@attrs.frozen
class Output:
    """Bytes of the agent's standard output."""

    offset: int
    data: bytes
    at: float
    """When the runner read them, epoch seconds; the same in every replay."""


@attrs.frozen
class ErrorOutput:
    """Bytes of the agent's standard error."""

    offset: int
    data: bytes
    at: float


@attrs.frozen
class RunnerStatus:
    """How the run stands. Sent on each change, and whole each time; it may overtake output."""

    state: str
    """`running`, `draining`, `killing`, `final` or `ended`."""
    paused: bool = False
    no_space: bool = False
    """The disk is full: the agent is held back until there is space, and nothing is lost."""


@attrs.frozen
class WriteTaken:
    """The answer to a write."""

    key: str
    result: str
    """`accepted`, `duplicate` (taken before: nothing was written), or why it was not taken and may be sent
    again: `closed`, `full`, `no_space`."""

    @property
    def taken(self) -> bool:
        """Whether the agent gets the bytes, by this write or by an earlier one of the same key."""
        return self.result in {"accepted", "duplicate"}


@attrs.frozen
class RunEnd:
    """How the run ended. The last message; every byte of output came before it."""

    code: int | None
    signal: int | None
    asked: bool
    """Whether it was stopped on request (by a daemon, for want of one, or by the runner's own limits)."""
    reason: str
    """`exited`, `exec_failed`, the reason a stop was given, `orphaned`, `spool_full`, `io_error`,
    `terminated` or `guardian_killed`."""
    ended_at: float
    stderr_tail: str = ""
    """The last 64 KiB, decoded."""


def killed(at: float) -> RunEnd:
    """The verdict of a run whose runner died before it could give one, and which was found so at that time."""
    return RunEnd(code=None, signal=9, asked=False, reason="runner_killed", ended_at=at)


Message = Output | ErrorOutput | RunnerStatus | WriteTaken | RunEnd


@attrs.frozen
class Hello:
    """What a runner says of itself to a daemon that has attached."""

    stdout_bytes: int
    status: RunnerStatus


@attrs.frozen
class NeverClaimed:
    """No runner has ever taken this directory: nothing was started."""


@attrs.frozen
class ClaimedNotStarted:
    """A runner took the directory and died before the agent could run: certainly nothing was executed."""


@attrs.frozen
class Running:
    """The runner lives: attach to it."""


@attrs.frozen
class RunEnded:
    """The agent has ended in order; its spool is whole."""

    verdict: RunEnd


@attrs.frozen
class Dead:
    """The runner died under its agent, and took it along. With an empty spool nobody knows what it did."""

    spool_bytes: int
    settled: bool
    """Whether the guardian is gone too; while it lives it is still ending the last processes (under a
    second)."""


RunState = NeverClaimed | ClaimedNotStarted | Running | RunEnded | Dead


def status_from(value: dict[str, Any]) -> RunnerStatus:
    """A status from its JSON."""
    return RunnerStatus(
        state=str(value.get("state", "running")),
        paused=bool(value.get("paused")),
        no_space=bool(value.get("noSpace")),
    )


def verdict_from(value: dict[str, Any]) -> RunEnd:
    """A verdict from its JSON."""
    return RunEnd(
        code=value.get("code"),
        signal=value.get("signal"),
        asked=bool(value.get("asked")),
        reason=str(value.get("reason", "")),
        ended_at=int(value.get("endedAt", 0)) / 1000,
        stderr_tail=str(value.get("stderrTail", "")),
    )


def inspect(run_dir: Path) -> RunState:
    """What became of a run, from its files and the process table alone.

    Raises:
        NotSealed: A file of the runner is not the one it wrote: what became of the run cannot be known from it.
    """
    key = run_key(run_dir)
    claim = _read(run_dir / runner_files.CLAIM, key)
    if claim is None:
        return NeverClaimed()
    verdict = _read(run_dir / runner_files.VERDICT, key)
    if verdict is not None:
        return RunEnded(verdict_from(verdict))
    if is_alive(_identity(claim, "pid", "starttime")):
        return Running()
    # It may have ended between the two looks.
    verdict = _read(run_dir / runner_files.VERDICT, key)
    if verdict is not None:
        return RunEnded(verdict_from(verdict))
    if not (
        run_dir / runner_files.AGENT
    ).is_file():  # anything else in its place is no record the runner wrote
        return ClaimedNotStarted()
    settled = not is_alive(_identity(claim, "guardianPid", "guardianStarttime"))
    return Dead(spool_bytes=_size(run_dir / runner_files.STDOUT), settled=settled)


def _read(path: Path, key: bytes) -> dict[str, object] | None:
    try:
        return runner_files.read_json(str(path), key)
    except (runner_files.UnsealedError, OSError) as error:
        raise NotSealed(path) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _identity(claim: dict[str, Any], pid: str, starttime: str) -> Identity:
    return Identity(int(claim[pid]), int(claim[starttime] or 0), str(claim["bootId"]))


class SpoolReader:
    """Reads a spool whose runner is dead, in the order and with the times of the first play. To be closed."""

    def __init__(self, run_dir: Path, from_offset: int, from_stderr: int) -> None:
        self._open: list[int] = []
        self._cursor: runner_files.Cursor | None = None
        for name in (runner_files.STDOUT, runner_files.STDERR, runner_files.INDEX):
            try:
                self._open.append(os.open(run_dir / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW))
            except FileNotFoundError:
                return  # the runner died before it made them: an empty spool
        self._cursor = runner_files.Cursor(self._open[:2], self._open[2], from_offset, from_stderr)

    def close(self) -> None:
        """Let go of the files."""
        while self._open:
            os.close(self._open.pop())

    def next(self) -> list[Output | ErrorOutput]:
        """What comes next, many chunks at once: a thread hop costs more than to read a small one. [] at the end."""
        batch: list[Output | ErrorOutput] = []
        size = 0
        while self._cursor is not None and size < _BATCH_BYTES and len(batch) < _BATCH_CHUNKS:
            chunk = self._cursor.next(_BATCH_BYTES) or self._cursor.rest(_BATCH_BYTES)
            if chunk is None:
                break
            stream, offset, at, data = chunk
            batch.append((ErrorOutput if stream else Output)(offset, data, at / 1000))
            size += len(data)
        return batch
