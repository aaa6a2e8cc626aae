"""The daemon's side of a runner: start one, attach to it, talk to its agent.

Owns: the launch file, the start of the runner program, and `RunnerClient`.
Must not: be the parent of an agent, signal one (its runner does), or understand what it says.

    async with RunnerClient(run_dir) as client:
        await client.attach(from_offset=taken)
        async for message in client:
            match message: ...

A client has no task of its own. Messages are read where they are iterated, and a slow reader holds back
nobody but itself: the runner goes on spooling. `write` therefore only sends; its answer is a `Taken` in the
iteration.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

import attrs
import trio

from hub.errors import Code, HubError
from hub.io import runner_files, runner_wire
from hub.io.runner_view import (
    ClaimedNotStarted,
    Dead,
    Ended,
    ErrorOutput,
    Hello,
    Message,
    NeverClaimed,
    Output,
    Running,
    RunState,
    SpoolReader,
    Status,
    Stray,
    Taken,
    Verdict,
    inspect,
    read_spool,
    status_from,
    verdict_from,
)

__all__ = [
    "AgentLaunch",
    "ClaimedNotStarted",
    "Dead",
    "Ended",
    "ErrorOutput",
    "Hello",
    "Message",
    "NeverClaimed",
    "Output",
    "RunState",
    "RunnerClient",
    "RunnerLost",
    "Running",
    "SpoolReader",
    "Status",
    "StdinMode",
    "StopGraces",
    "Stray",
    "Taken",
    "Verdict",
    "inspect",
    "read_spool",
    "spawn_runner",
]

_PROGRAM = Path(__file__).with_name("runner.py")
_RUN_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TAKEN = 75
_RECEIVE = 256 * 1024
_PATH = "/usr/local/bin:/usr/bin:/bin"


@attrs.frozen
class StopGraces:
    """Seconds after SIGINT, SIGTERM and SIGKILL before the next step. 0 skips a signal, but never SIGKILL."""

    interrupt: float = 5.0
    terminate: float = 5.0
    kill: float = 2.0


class StdinMode(StrEnum):
    """What the agent's standard input is."""

    NULL = "null"
    PIPE = "pipe"
    FILE = "file"


@attrs.frozen
class AgentLaunch:
    """How a runner starts its agent."""

    argv: Sequence[str]
    env: Mapping[str, str]
    """The agent's whole environment; only HUB_RUN_ID is added."""
    cwd: Path
    stdin: StdinMode = StdinMode.NULL
    stdin_file: str = ""
    """With `FILE`: a name among `files`."""
    files: Mapping[str, bytes] = attrs.field(factory=dict)
    """Written into the run directory (0600) before the start."""
    orphan_grace: float = 120.0
    """Seconds without a daemon after which the agent is stopped in order; 0 = at once."""
    graces: StopGraces = StopGraces()
    """For stops the runner begins by itself."""
    spool_limit: int = 512 * 1024 * 1024
    """Bytes of stdout after which the agent is stopped in order with reason `spool_full`."""
    stderr_limit: int = 16 * 1024 * 1024
    """Bytes of stderr that are spooled; what comes after is counted, and its tail kept."""
    drain: float = 2.0
    """Seconds in which processes that outlive the agent may still write to its stdout."""
    linger: float = 10.0
    """Seconds an ended runner waits for a daemon to collect its verdict."""
    umask: int = 0o022


class RunnerLost(Exception):  # noqa: N818  # it is an event, and often no error
    """The connection has ended before the verdict.

    Attributes:
        displaced: Whether another daemon has attached. Otherwise `inspect` tells what became of the runner.
    """

    def __init__(self, detail: str, *, displaced: bool = False) -> None:
        super().__init__(detail)
        self.displaced = displaced


async def spawn_runner(run_dir: Path, launch: AgentLaunch) -> bool:
    """Start the agent under its runner; when this returns, it is on record and has been let go.

    The run directory's name is the run id. It is made (0700) if it is not there; its parent must exist.

    Returns:
        True when this call started it; False when a runner had claimed the directory before (attach to it, or
        `inspect` it). Of any number of concurrent calls one returns True.

    Raises:
        HubError: `dispatch_failed`: no runner could be started; nothing was executed. `invalid` for a bad
        name.

    A cancelled call leaves either no claim, or a runner that goes on and can be attached to.
    """
    if not _RUN_ID.fullmatch(run_dir.name):
        raise HubError(Code.INVALID, f"{run_dir.name!r} is no run id.")
    bad = [name for name in launch.files if not _FILE_NAME.fullmatch(name) or name in runner_files.RESERVED]
    if bad:
        raise HubError(Code.INVALID, f"{bad[0]!r} may not be the name of a file in a run directory.")
    try:
        with contextlib.suppress(FileExistsError):
            run_dir.mkdir(0o700)
        if os.path.lexists(run_dir / runner_files.CLAIM):
            return False
        for name, data in launch.files.items():
            _write_private(run_dir / name, data)
        _write_private(run_dir / runner_files.LAUNCH, json.dumps(_launch_json(launch)).encode())
        done = await trio.run_process(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_PROGRAM), str(run_dir)],
            env={"HUB_RUN_ID": run_dir.name, "PATH": os.environ.get("PATH", _PATH)},
            capture_stderr=True,
            check=False,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            deliver_cancel=_let_go,
        )
    except OSError as error:
        raise HubError(Code.DISPATCH_FAILED, f"The runner could not be started: {error.strerror}.") from error
    if done.returncode in {0, _TAKEN}:
        return done.returncode == 0
    raise HubError(Code.DISPATCH_FAILED, f"The runner could not be started: {_why(run_dir, done.stderr)}")


async def _let_go(process: trio.Process) -> None:
    """End a launcher nobody waits for. The guardian it may have forked goes on by itself."""
    process.kill()


def _why(run_dir: Path, stderr: bytes | None) -> str:
    text = (stderr or b"").decode("utf-8", "replace")
    with contextlib.suppress(OSError):
        text += (run_dir / runner_files.LOG).read_text("utf-8", "replace")
    return text.strip().rpartition("\n")[2] or "it ended without a word."


def _write_private(path: Path, data: bytes) -> None:
    """Write a whole file that only this user may read, whatever the umask."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    try:
        try:
            runner_files.write_all(descriptor, data)
        finally:
            os.close(descriptor)
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _launch_json(launch: AgentLaunch) -> dict[str, object]:
    return {
        "argv": list(launch.argv),
        "env": dict(launch.env),
        "cwd": str(launch.cwd),
        "stdin": launch.stdin.value,
        "stdinFile": launch.stdin_file,
        "orphanGrace": launch.orphan_grace,
        "graces": list(attrs.astuple(launch.graces)),
        "spoolLimit": launch.spool_limit,
        "stderrLimit": launch.stderr_limit,
        "drain": launch.drain,
        "linger": launch.linger,
        "umask": launch.umask,
    }


async def _connect(run_dir: Path) -> trio.SocketStream:
    """Connect to a socket whose path may be longer than the 107 bytes an address holds."""
    path, directory = str(run_dir / runner_files.SOCKET), -1
    connection = trio.socket.socket(socket.AF_UNIX)
    try:
        if sys.platform == "linux":
            directory = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            path = f"/proc/self/fd/{directory}/{runner_files.SOCKET}"
        await connection.connect(path)
    except OSError as error:
        connection.close()
        raise RunnerLost(f"No runner answers in {run_dir}: {error.strerror}.") from error
    except BaseException:
        connection.close()
        raise
    finally:
        if directory >= 0:
            os.close(directory)
    return trio.SocketStream(connection)


class RunnerClient:
    """One daemon's connection to one runner. Leaving the block closes it; the agent goes on.

    Raises:
        RunnerLost: From every method: the runner is not there, is gone, or serves another daemon.
    """

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._decoder = runner_wire.Decoder(runner_wire.MAX_TO_CLIENT)
        self._arrived: list[tuple[int, bytes]] = []
        self._sending = trio.Lock()
        self._broken = ""
        self._stream: trio.SocketStream | None = None
        self.verdict: Verdict | None = None
        """Set when the verdict has been iterated over."""

    async def __aenter__(self) -> Self:
        self._stream = await _connect(self._run_dir)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)

    async def attach(self, from_offset: int = 0, from_stderr: int = 0) -> Hello:
        """Become the runner's daemon; the one before is displaced. Output follows from these offsets on."""
        await self._send(
            runner_wire.encode_json(runner_wire.ATTACH, {"from": from_offset, "fromStderr": from_stderr})
        )
        kind, payload = await self._receive()
        if kind != runner_wire.HELLO:
            raise RunnerLost("The runner did not greet.")
        value = runner_wire.decode_json(payload)
        return Hello(
            run_id=str(value["runId"]),
            pid=_integer(value["pid"]),
            agent_pid=_integer(value["agentPid"]),
            started_at=_integer(value["startedAt"]) / 1000,
            stdout_bytes=_integer(value["stdoutBytes"]),
            stderr_bytes=_integer(value["stderrBytes"]),
            contained=bool(value["contained"]),
            status=status_from(value),
        )

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        """The next message; the iteration ends behind the verdict. Cancelling it loses nothing."""
        if self.verdict is not None:
            raise StopAsyncIteration
        message = _message(*await self._receive())
        if isinstance(message, Verdict):
            self.verdict = message
        return message

    async def write(self, key: str, data: bytes) -> None:
        """Send bytes for the agent's standard input; a `Taken` in the iteration answers."""
        await self._send(runner_wire.encode_input(key, data))

    async def close_stdin(self) -> None:
        """Give the agent end of file behind all that was written."""
        await self._send(runner_wire.encode(runner_wire.CLOSE_STDIN))

    async def stop(self, graces: StopGraces | None = None, reason: str = "asked") -> None:
        """Stop the agent in order; shorter graces than those of a stop under way shorten it."""
        wish: dict[str, object] = {"reason": reason}
        if graces is not None:
            wish["graces"] = list(attrs.astuple(graces))
        await self._send(runner_wire.encode_json(runner_wire.STOP, wish))

    async def signal(self, number: int) -> None:
        """Signal the agent's process group."""
        await self._send(runner_wire.encode_json(runner_wire.SIGNAL, {"n": int(number)}))

    async def pause(self) -> None:
        """Stop every process of the agent where it stands; a `Status` confirms."""
        await self._send(runner_wire.encode(runner_wire.PAUSE))

    async def resume(self) -> None:
        """Let them go on."""
        await self._send(runner_wire.encode(runner_wire.CONTINUE))

    async def detach(self) -> None:
        """Leave in peace: the orphan grace begins, or, behind the verdict, the runner ends."""
        with contextlib.suppress(RunnerLost):
            await self._send(runner_wire.encode(runner_wire.DETACH))
        if self._stream is not None:
            await self._stream.aclose()

    async def _send(self, message: bytes) -> None:
        async with self._sending:
            stream = self._connected()
            # Half a message in the pipe makes every later one unreadable.
            self._broken = "A message was cut off."
            try:
                await stream.send_all(message)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise RunnerLost("The runner is gone.") from error
            self._broken = ""

    async def _receive(self) -> tuple[int, bytes]:
        while not self._arrived:
            try:
                data = await self._connected().receive_some(_RECEIVE)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise RunnerLost("The runner is gone.") from error
            if not data:
                raise RunnerLost("The runner is gone.")
            self._arrived = self._decoder.feed(bytes(data))
            self._arrived.reverse()
        kind, payload = self._arrived.pop()
        if kind == runner_wire.STATUS and runner_wire.decode_json(payload).get("displaced"):
            raise RunnerLost("Another daemon has attached.", displaced=True)
        return kind, payload

    def _connected(self) -> trio.SocketStream:
        if self._stream is None:
            raise RunnerLost("Not connected.")
        return self._stream


def _message(kind: int, payload: bytes) -> Message:
    if kind in {runner_wire.OUT, runner_wire.ERR}:
        offset, at, data = runner_wire.decode_chunk(payload)
        return (Output if kind == runner_wire.OUT else ErrorOutput)(offset, data, at / 1000)
    value = runner_wire.decode_json(payload)
    if kind == runner_wire.VERDICT:
        return verdict_from(value)
    if "input" in value:
        return Taken(str(value["input"]), str(value["result"]))
    return status_from(value)


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise RunnerLost("The runner did not say a number where one belongs.")
    return value
