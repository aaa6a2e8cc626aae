"""Daemons and commands of hub that begin where the importing is over: one process has imported hub, and forks for each.

Owns: that process, what it hands a fork (folder, environment, files), and the fork as a test holds it.
Must not: be used where the start itself is what is tested: what is imported, what limits and which user a process has.

Seven tenths of a daemon's start are imports, and the tests start some two thousand. From there on a fork is a process as
any other, with descriptors, signals and a number of its own, killed and found dead like any. At its end the modules are
not taken apart one by one.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

import attrs

ROOT = Path(__file__).resolve().parent.parent
_NOT_A_DAEMONS = ("hub.__main__", "hub.tui", "hub.evals", "hub.acp")
_STATUS = struct.Struct("i")
_ASKING = threading.Lock()
"""One request at a time, and its answer."""
_MOST = 1 << 20
"""Bytes of a request: the environment and little else."""


class Forked:
    """A started process, as far as `subprocess.Popen` is used by tests."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status
        self._close = weakref.finalize(self, os.close, status)

    def poll(self) -> int | None:
        """The exit status, if it has ended; a signal's number below zero."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """As `Popen.wait`."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self._ended()
        assert self.returncode is not None
        return self.returncode

    def _ended(self) -> None:
        (self.returncode,) = _STATUS.unpack(os.read(self._status, _STATUS.size))
        self._close()

    def send_signal(self, number: int) -> None:
        """Nothing, once it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


def fork(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    out: IO[bytes],
    err: IO[bytes] | None = None,
    given: bytes = b"",
    mute: bool = False,
) -> Forked:
    """`hub` with these words, which reads what is given; both outputs to `out`, unless there is a file for errors.

    `mute`: its standard output is closed, as by `>&-`.
    """
    with _ASKING:
        stem = _stem()
    mine, its = os.pipe()
    read, written = os.pipe()
    request = json.dumps({"words": list(words), "cwd": str(cwd), "env": dict(env), "mute": mute}).encode()
    try:
        os.write(written, given)
        with _ASKING:
            socket.send_fds(stem, [request], [read, out.fileno(), (err or out).fileno(), its])
            answer = stem.recv(_STATUS.size)
    finally:
        for fd in (its, read, written):
            os.close(fd)
    if not answer:
        os.close(mine)
        raise AssertionError("the process that forks has ended")
    return Forked(*_STATUS.unpack(answer), mine)


def run(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    given: str = "",
    mute: bool = False,
    timeout: float,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of `hub` with these words, with all it says."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = fork(words, cwd=cwd, env=env, out=out, err=err, given=given.encode(), mute=mute)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
    return subprocess.CompletedProcess(["hub", *words], status, *said)


@cache
def _stem() -> socket.socket:
    """The process that forks, one for each that runs tests; it ends with it."""
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", str(its.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
        )

    def end() -> None:
        mine.close()
        process.wait()

    atexit.register(end)
    return mine


@attrs.frozen
class _Request:
    """One process to be."""

    words: list[str]
    cwd: str
    env: dict[str, str]
    mute: bool
    files: tuple[int, int, int]
    """What it reads, and its two outputs."""
    status: int
    """Where its end is told."""


def _serve(tests: socket.socket) -> _Request | None:
    """Forks at every request, and tells how each child ended; answers what is to be run, in a child alone."""
    living: dict[int, tuple[int, int]] = {}  # pidfd -> process, where its status goes
    while True:
        ready, _, _ = select.select([tests, *living], [], [])
        for ended in ready:
            if ended is tests:
                continue
            pid, told = living.pop(ended)
            os.close(ended)
            _, status = os.waitpid(pid, 0)
            with suppress(BrokenPipeError):  # nobody waits for it
                os.write(told, _STATUS.pack(os.waitstatus_to_exitcode(status)))
            os.close(told)
        if tests in ready:
            body, fds, _, _ = socket.recv_fds(tests, _MOST, 4)
            if not body:
                return None
            *files, status = fds
            request = _Request(**json.loads(body), files=tuple(files), status=status)
            pid = os.fork()
            if not pid:
                return request
            for file in files:
                os.close(file)
            living[os.pidfd_open(pid)] = pid, request.status
            tests.send(_STATUS.pack(pid))


def _become(request: _Request) -> None:
    """All that Python's own start gives a process, but what was imported."""
    for number, file in enumerate(request.files):
        os.dup2(file, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.env)
    time.tzset()
    # Made anew: a stream remembers whether it could be sought, and whether it was a terminal.
    encoding = request.env.get("PYTHONIOENCODING", "utf-8")
    for number, name in ((1, "stdout"), (2, "stderr")):
        errors, lines = getattr(sys, name).errors, os.isatty(number) or name == "stderr"
        stream = os.fdopen(number, "w", 1 if lines else -1, encoding=encoding, errors=errors, closefd=False)
        setattr(sys, name, stream)
    if request.mute:
        os.close(1)
        sys.stdout = None
    sys.argv = ["hub", *request.words]
    # Trio draws the order of tasks from its own generator, which all forks would have alike.
    _trio_run._r = random.Random()
    failpoints.arm(os.environ.get(failpoints.VARIABLE, ""))


def _end(status: object) -> None:
    """All that Python's own end does, but taking apart what was imported: four fifths of a short command's time.

    Where something is still to be said, a status in words or an output that nobody takes, it is left to Python.
    """
    if isinstance(status, int | None):
        threading._shutdown()
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit((status or 0) & 0xFF)


def import_all() -> None:
    """What a daemon imports, sooner or later."""
    import hub

    for module in pkgutil.walk_packages(hub.__path__, "hub.", onerror=lambda _: None):
        if not module.name.startswith(_NOT_A_DAEMONS):
            importlib.import_module(module.name)


if __name__ == "__main__":
    import gc

    gc.disable()
    import_all()
    from trio._core import _run as _trio_run

    from hub.cli.main import main
    from hub.io import failpoints

    gc.freeze()  # what is looked through is written to, and what is written to is shared no more
    gc.enable()
    request = _serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        _become(request)
        try:
            main()
        except SystemExit as end:
            _end(end.code)
            raise
