"""How hub runs git.

Owns: the one function that starts git for whoever waits in Trio.
Must not: start one without the environment of `guard`, and never ask the network, a terminal or a key.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

import attrs
import trio

from hub.errors import Code, HubError
from hub.io.git.guard import KEPT, Config, environment, guarded
from hub.io.git.meaning import failure
from hub.io.git.progress import GitProgress, pause, stuck

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
T = TypeVar("T")
Task = Callable[[], Awaitable[T]]
_PROTECTED = r"^(safe\.directory|core\.excludesfile)$"
_GRACE = 0.5
"""Seconds for one that is cancelled: many times what a lock takes, and little for whoever waits for one that hangs."""
_LEAVING = 2.0


class _FullError(Exception):
    """Enough was read."""


@attrs.frozen
class GitResult:
    """A git that has ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Its output, decoded, without the last newline."""
        return self.out.decode("utf-8", "replace").rstrip("\n")


async def git(
    *args: str,
    cwd: Path,
    where: Mapping[str, str] | None = None,
    config: Config = (),
    stdin: bytes | Callable[[], bytes] = b"",
    accept: Iterable[int] = (0,),
    umask: int = -1,
) -> GitResult:
    """Runs git to its end and gives its output.

    One that is cancelled has half a second to come to its end: a git that is stopped in the instant in which it makes
    a lock file leaves it, and then no other can write there. Then it gets SIGTERM, and its whole group SIGKILL when it
    does not leave in two.

    Args:
        *args: The command and its arguments.
        cwd: Where it runs.
        where: `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE` and the like.
        config: Settings above all others, for this run.
        stdin: Its input; or what gives it piece by piece, in a worker thread, until a piece is empty.
        accept: Exit codes that are answers; any other raises.
        umask: Of the files that it makes; -1 = the daemon's own, which lets nobody else in.

    Raises:
        HubError: GIT_MISSING, WORKTREE_MISSING when `cwd` is gone, GIT_FAILED where it stands still (`progress`), or what
            its words mean. What `stdin` raises comes out as it is; git is stopped then.
    """
    env = environment(where or {}, [*config, *await _protected()])
    done = await _run(("git", *args), cwd, env, stdin, umask=umask)
    if done.code not in tuple(accept):
        raise failure(args[0], done.code, done.err)
    return done


async def git_asked(*args: str, cwd: Path) -> GitResult:
    """A question about the configuration, the user's own included; any exit status is an answer.

    Only for what runs nothing, such as `git config --get`.
    """
    env = {
        name: value
        for name, value in guarded().items()
        if not name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))
    }
    return await _run(("git", *args), cwd, env)


async def git_capped(
    *args: str, cwd: Path, limit: int, where: Mapping[str, str] | None = None
) -> tuple[bytes, bool]:
    """The first `limit` bytes of a git's output, and whether there was more; git is stopped there.

    Raises:
        HubError: As `git`: of a git that fails, what it had said until then is no answer.
    """
    done = await _run(("git", *args), cwd, environment(where or {}, await _protected()), limit=limit)
    if done.code:
        raise failure(args[0], done.code, done.err)
    return done.out[:limit], len(done.out) > limit


async def _drain(stream: trio.abc.ReceiveStream, into: bytearray, limit: float = math.inf) -> None:
    async for part in stream:
        into += part
        if len(into) > limit:
            raise _FullError


async def _feed(stream: trio.abc.SendStream, data: bytes | Callable[[], bytes]) -> None:
    with contextlib.suppress(trio.BrokenResourceError):  # git left early: its words tell why
        if isinstance(data, bytes):
            await stream.send_all(data)
        else:
            while piece := await trio.to_thread.run_sync(data):
                await stream.send_all(piece)
    await stream.aclose()


async def effective_config(cwd: Path) -> dict[str, str]:
    """Every setting in force in a repository (its own, included files too, and hub's overrides), last one wins."""
    return dict(_settings((await git("config", "--list", "-z", "--includes", cwd=cwd)).out))


def _settings(told: bytes) -> Config:
    entries = (entry.partition("\n") for entry in told.decode("utf-8", "surrogateescape").split("\0")[:-1])
    return [(name, value) for name, _, value in entries]


_protected_of: dict[tuple[str | None, ...], Config] = {}


async def _protected() -> Config:
    """The two settings of the user's own configuration that count, read once for each home directory."""
    key = tuple(os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"))
    if key not in _protected_of:
        env = {name: value for name, value in os.environ.items() if name in {*KEPT, "GIT_CONFIG_GLOBAL"}}
        done = await _run(("git", "config", "-z", "--get-regexp", _PROTECTED), Path("/"), env)
        _protected_of[key] = _settings(done.out if done.code == 0 else b"")
    return _protected_of[key]


async def _run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | Callable[[], bytes] = b"",
    *,
    umask: int = -1,
    limit: float = math.inf,
) -> GitResult:
    """With more output than `limit` bytes it is stopped, and has done what it should."""
    out, err = bytearray(), bytearray()
    async with _started(argv, cwd, env, umask) as started:
        with contextlib.suppress(_FullError):
            await _unhurried(
                partial(_drain, started.stdout, out, limit),
                partial(_drain, started.stderr, err),
                partial(_feed, started.stdin, stdin),
                partial(_end_of, started, argv[1]),
            )
            return GitResult(started.returncode, bytes(out), err.decode("utf-8", "replace"))
    return GitResult(0, bytes(out), "")


@contextlib.asynccontextmanager
async def _started(argv: Sequence[str], cwd: Path, env: Mapping[str, str], umask: int) -> AsyncIterator[Any]:
    """A git whose output is read; it has ended, in order where it can be, when this is left."""
    try:
        process = await trio.lowlevel.open_process(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            umask=umask,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        if shutil.which("git") is None:
            raise HubError(Code.GIT_MISSING, "git was not found on PATH.") from error
        raise HubError(Code.WORKTREE_MISSING, f"{cwd} is not there.") from error
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            await _end(process)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    await stream.aclose()


async def _unhurried(*tasks: Task[object]) -> None:
    """As `together`; where it is cancelled, they go on for `_GRACE` seconds.

    A shielded scope alone would not learn of that: what a cancelled sibling does last gives it its deadline.
    """
    ended, patience = trio.Event(), trio.CancelScope(shield=True)

    async def run() -> None:
        with patience:
            await together(*tasks)
        ended.set()

    async def hurry() -> None:
        try:
            await ended.wait()
        finally:
            patience.deadline = trio.current_time() + _GRACE

    await together(run, hurry)


@overload
async def together(one: Task[A], two: Task[B], /) -> tuple[A, B]: ...
@overload
async def together(one: Task[A], two: Task[B], three: Task[C], /) -> tuple[A, B, C]: ...
@overload
async def together(*tasks: Task[object]) -> tuple[object, ...]: ...
async def together(*tasks: Task[object]) -> tuple[object, ...]:
    """What tasks come to that run at the same time; the first failure stops the others and comes out as it is."""
    failed: list[Exception] = []
    found: dict[int, object] = {}

    async def run(number: int, task: Task[object]) -> None:
        try:
            found[number] = await task()
        except Exception as error:  # noqa: BLE001  # raised again below
            failed.append(error)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for number, task in enumerate(tasks):
            nursery.start_soon(run, number, task)
    if failed:
        raise failed[0]
    return tuple(found[number] for number in range(len(tasks)))


async def _end_of(process: trio.Process, command: str) -> None:
    """Waits for the end of a git, as long as it takes.

    Raises:
        HubError: GIT_FAILED: it stands still.
    """
    seen = GitProgress(process.pid)
    while not seen.still:
        with trio.move_on_after(pause()):
            await process.wait()
            return
        await trio.to_thread.run_sync(seen.look)
    raise stuck(command)


async def _end(process: trio.Process) -> None:
    """Stops a process in order, or with its whole group, and waits for its end."""
    if process.poll() is not None:
        return
    process.terminate()
    with trio.move_on_after(_LEAVING):
        await process.wait()
        return
    os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
