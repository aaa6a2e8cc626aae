"""Acceptance commands, and the environments programs get from hub.

Owns: running one shell command to its end, whatever it does, and the allow-lists of environment names.
Must not: judge the result, redact the output (the sinks do), or pass on a name that is not on a list.
"""

from __future__ import annotations

import os
import signal as signals
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import trio

from hub.errors import Code, HubError
from hub.io.shortage import shortage

MIB = 1024 * 1024
_PROGRAM = Path(__file__).parents[1] / "runner" / "command.py"
_STOP_SECONDS = 8.0
"""The program's own graces and a reserve; then it is killed itself."""
_NAMES = frozenset({"PATH", "HOME", "LANG", "TERM", "TMPDIR", "SHELL", "USER"})
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
_AGENT_NAMES = _NAMES.union(
    _NETWORK,
    map(str.lower, _NETWORK),
    {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "TZ", "IS_SANDBOX"},
)


def command_env() -> dict[str, str]:
    """What an acceptance command may see: no key, no proxy, nothing of hub."""
    return {name: value for name, value in os.environ.items() if name in _NAMES or name.startswith("LC_")}


def base_env() -> dict[str, str]:
    """What every agent gets: the same, the way to the network, the time zone, and `IS_SANDBOX`.

    Some tell resets in the time zone; some work for root in a sandbox only.
    """
    return {
        name: value for name, value in os.environ.items() if name in _AGENT_NAMES or name.startswith("LC_")
    }


@attrs.frozen
class CommandResult:
    """How a command ended."""

    exit_code: int | None
    """None when a signal ended it, or hub did for its time."""
    signal: int | None
    output: str
    """stdout and stderr as they came; of a long text head and tail, and between them what is left out."""
    duration_ms: int
    timed_out: bool


class Excerpt:
    """Keeps the head and the tail of a stream within `cap` bytes."""

    def __init__(self, cap: int) -> None:
        self._half = max(1, cap // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take what comes next."""
        self._total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[max(0, room) :]
        # Cutting at twice the size makes the cost of a byte constant.
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """The excerpt, decoded; bytes that are no UTF-8 become U+FFFD."""
        tail = bytes(self._tail[-self._half :])
        dropped = max(0, self._total - 2 * self._half)
        middle = f"\n[... {dropped} bytes left out ...]\n".encode() if dropped else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", "replace")


async def run_command(
    command: str,
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 600.0,
    on_output: Callable[[bytes], None] = lambda _: None,
) -> CommandResult:
    """Run a shell command in its own session, without input, until nothing of it is left.

    When this returns or raises, also when it is cancelled, no process the command started is alive, those
    that left its group or ignore SIGTERM included. The same holds within two
    seconds of this process's death.

    Args:
        command: A text for `/bin/sh -c`.
        cwd: Where it runs.
        env: Its whole environment; `command_env()` when not given.
        timeout: Seconds; then it is ended and `timed_out` is set.
        on_output: Given all of it, as it comes.

    Raises:
        HubError: `worktree_missing` when `cwd` is not there, `verify_failed` when nothing could be started.
    """
    before = trio.current_time()
    output, report = Excerpt(MIB), bytearray()

    def take(data: bytes) -> None:
        output.add(data)
        on_output(data)

    process = await _start(command, cwd, command_env() if env is None else env)
    try:
        timed_out = await _follow(process, timeout, take, report.extend)
    finally:
        await _end(process)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                await trio.aclose_forcefully(stream)
    took = int((trio.current_time() - before) * 1000)
    try:
        status = int(report)
    except ValueError:
        # Ended by hub in the middle, or the program above the shell was killed by somebody.
        return CommandResult(None, int(signals.SIGKILL), output.text(), took, timed_out)
    # A command that catches SIGTERM and leaves with 0 has not passed.
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) and not timed_out else None
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    return CommandResult(code, number, output.text(), took, timed_out)


async def _start(command: str, cwd: Path, env: Mapping[str, str]) -> trio.Process:
    try:
        return await trio.lowlevel.open_process(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_PROGRAM), command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except OSError as error:
        if str(error.filename) == str(cwd):
            raise HubError(Code.WORKTREE_MISSING, f"{cwd} is not there.") from error
        if short := shortage(error):
            raise short from error
        raise HubError(Code.VERIFY_FAILED, f"The command could not be started: {error.strerror}.") from error
    except ValueError as error:
        raise HubError(Code.VERIFY_FAILED, f"The command could not be started: {error}.") from error


async def _follow(
    process: trio.Process, limit: float, output: Callable[[bytes], None], report: Callable[[bytes], None]
) -> bool:
    """Read both pipes until the process has ended; True when it had to be ended."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_collect, process.stdout, output)
        nursery.start_soon(_collect, process.stderr, report)
        with trio.move_on_after(limit) as waiting:
            await process.wait()
        if waiting.cancelled_caught:
            await _end(process)
        # Every writer is dead, but one that got the pipe by other ways may live: what is in the pipe is all.
        nursery.cancel_scope.deadline = trio.current_time() + 1.0
    return waiting.cancelled_caught


async def _collect(stream: trio.abc.ReceiveStream | None, take: Callable[[bytes], None]) -> None:
    if stream is not None:
        async for data in stream:
            take(bytes(data))


async def _end(process: trio.Process) -> None:
    """Close the lifeline and wait; bounded, and not cancellable, so that no process is left."""
    with trio.CancelScope(shield=True):
        if process.stdin is not None:
            await process.stdin.aclose()
        with trio.move_on_after(_STOP_SECONDS):
            await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()
