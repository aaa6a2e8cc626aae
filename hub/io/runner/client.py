"""The daemon's side of a runner: start one, attach to it, talk to its agent.

Owns: the launch file, the start of the runner program, and `RunnerClient`.
Must not: be the parent of an agent, signal one (its runner does), or understand what it says.

    async with RunnerClient(run_dir) as client:
        await client.attach(from_offset=taken)
        async for message in client:
            match message: ...

A client has no task of its own. Messages are read where they are iterated, and a slow reader holds back
nobody but itself: the runner goes on spooling. `write` therefore only sends; its answer is a `WriteTaken` in the
iteration.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import Self

import attrs
import trio

from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.runner import files as runner_files
from hub.io.runner import wire as runner_wire
from hub.io.runner.launch import AgentLaunch, StopGraces, prepare
from hub.io.runner.launcher import launch as launch_runner
from hub.io.runner.view import (
    ClaimedNotStarted,
    ErrorOutput,
    Hello,
    Message,
    NeverClaimed,
    Output,
    RunEnd,
    WriteTaken,
    inspect,
    status_from,
    verdict_from,
)
from hub.io.shortage import SHORT, shortage

_TAKEN = 75
_RECEIVE = 256 * 1024
_CONNECT_SECONDS = 10.0
_CONNECT_AGAIN = 0.01


class RunnerLost(Exception):
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
        HubError: `dispatch_failed`, or `no_space` on a full disk: no runner could be started; nothing was
        executed. With `retry` where the reason goes away by itself (`shortage`). `invalid` for a bad name. As `prepare`.

    A cancelled call leaves either no claim, or a runner that goes on and can be attached to.
    """
    try:
        if not prepare(run_dir, launch):
            return False
        failpoints.hit("runner.spawn")
        status, said = await launch_runner(run_dir)
    except OSError as error:
        raise _not_started(run_dir, f"{error.strerror}.") from error
    if status in {0, _TAKEN}:
        return status == 0
    if not isinstance(inspect(run_dir), NeverClaimed | ClaimedNotStarted):
        return True  # the runner died behind the agent's start, before it could tell: what the agent did, nobody knows
    raise _not_started(run_dir, _why(run_dir, said))


def _not_started(run_dir: Path, why: str) -> HubError:
    """`no_space` is worth another try later, with the same agent; `dispatch_failed` is not. Its keys do not stay."""
    with contextlib.suppress(OSError):
        (run_dir / runner_files.LAUNCH).unlink()
    code = Code.NO_SPACE if os.strerror(errno.ENOSPC) in why else Code.DISPATCH_FAILED
    found = next((shortage(OSError(number, why)) for number in SHORT if os.strerror(number) in why), None)
    said, hint = (found.detail, found.hint) if found is not None else (why, "")
    return HubError(code, f"The runner could not be started: {said}", hint=hint, retry=found is not None)


def _why(run_dir: Path, stderr: bytes) -> str:
    text = stderr.decode("utf-8", "replace")
    with contextlib.suppress(OSError):
        text += (run_dir / runner_files.LOG).read_text("utf-8", "replace")
    return text.strip().rpartition("\n")[2] or "it ended without a word."


async def _connect(run_dir: Path) -> trio.SocketStream:
    """Connect to a socket whose path may be longer than the 107 bytes an address holds."""
    directory = -1
    connection = socket.socket(socket.AF_UNIX)
    connection.setblocking(False)
    try:
        directory = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        await _when_accepted(connection, f"/proc/self/fd/{directory}/{runner_files.SOCKET}")
    except OSError as error:
        connection.close()
        raise RunnerLost(f"No runner answers in {run_dir}: {error.strerror}.") from error
    except trio.TooSlowError as error:
        connection.close()
        raise RunnerLost(f"The runner in {run_dir} does not answer.") from error
    except BaseException:
        connection.close()
        raise
    finally:
        if directory >= 0:
            os.close(directory)
    return trio.SocketStream(trio.socket.from_stdlib_socket(connection))


async def _when_accepted(connection: socket.socket, path: str) -> None:
    """Connect, patiently where the runner's queue is full.

    A unix socket tells that by EAGAIN at once, which Trio's own connect takes for success in the making.
    """
    with trio.fail_after(_CONNECT_SECONDS):
        while True:
            await trio.lowlevel.checkpoint()
            try:
                connection.connect(path)
            except BlockingIOError:
                await trio.sleep(_CONNECT_AGAIN)
            else:
                return


class RunnerClient:
    """One daemon's connection to one runner. Leaving the block closes it; the agent goes on.

    Args:
        run_dir: The run.

    Raises:
        RunnerLost: From every method: the runner is not there, is gone, or serves another daemon.
    """

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._decoder = runner_wire.Decoder(runner_wire.MAX_TO_CLIENT)
        self._arrived: list[tuple[int, bytes]] = []
        self._sending = trio.Lock()
        self._broken = False
        self._stream: trio.SocketStream | None = None
        self.verdict: RunEnd | None = None
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
        size = value["stdoutBytes"]
        if not isinstance(size, int):
            raise RunnerLost("The runner did not say a number where one belongs.")
        return Hello(size, status_from(value))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        """The next message; the iteration ends behind the verdict. Cancelling it loses nothing."""
        if self.verdict is not None:
            raise StopAsyncIteration
        message = _message(*await self._receive())
        if isinstance(message, RunEnd):
            self.verdict = message
        return message

    async def write(self, key: str, data: bytes) -> None:
        """Send bytes for the agent's standard input; a `WriteTaken` in the iteration answers."""
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

    async def pause(self) -> None:
        """Stop every process of the agent where it stands; a `RunnerStatus` confirms."""
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
            if self._broken:
                raise RunnerLost("A message was cut off by a cancellation: attach anew.")
            self._broken = True
            try:
                await stream.send_all(message)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise RunnerLost("The runner is gone.") from error
            self._broken = False

    async def _receive(self) -> tuple[int, bytes]:
        while not self._arrived:
            try:
                data = await self._connected().receive_some(_RECEIVE)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise RunnerLost("The runner is gone.") from error
            if not data:
                raise RunnerLost("The runner is gone.")
            try:
                self._arrived = self._decoder.feed(bytes(data))
            except runner_wire.WireError as error:
                raise RunnerLost(f"What answers is no runner: {error}.") from error
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
        return WriteTaken(str(value["input"]), str(value["result"]))
    return status_from(value)
