"""The agent as the runner's child: held at a gate until its start is on record, then let go.

Owns: fork, the child's session, descriptors, signals and environment, and the gate.
Must not: decide when to stop it, or import anything outside the standard library (the runner starts with
`-I -S`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct

from hub.io.runner.proc import PR_SET_PDEATHSIG, prctl, starttime

_ERRNO = struct.Struct(">i")
_PIPE_BYTES = 1024 * 1024


class StartPlan:
    """What to start: argv, the exact environment, where, and what its standard input is."""

    def __init__(self, launch: dict[str, object], run_id: str) -> None:
        argv, env = launch["argv"], launch["env"]
        if not isinstance(argv, list) or not argv or not isinstance(env, dict):
            raise TypeError("launch.json: argv must be a list and env an object")
        self.argv = [os.fsencode(str(word)) for word in argv]
        self.env = {os.fsencode(name): os.fsencode(str(value)) for name, value in env.items()}
        self.env[b"HUB_RUN_ID"] = os.fsencode(run_id)
        self.cwd = os.fsencode(str(launch["cwd"]))
        self.stdin = str(launch.get("stdin", "null"))


class GatedAgent:
    """A forked agent that waits at its gate.

    Attributes:
        pid: Its process id, which is its group's and its session's too.
        started: Its start time, for the record.
        out: Where its stdout is read, non-blocking.
        err: Where its stderr is read, non-blocking.
        stdin: Where its stdin is written, non-blocking; None when it has no pipe there.
        verdict: After the gate was opened: readable once exec has succeeded (end of file) or failed (errno).
        status: Its wait status once it was reaped.
    """

    def __init__(self, plan: StartPlan) -> None:
        source, self.stdin = _stdin(plan)
        self.out, out = _pipe()
        self.err, err = _pipe()
        gate, self._gate = os.pipe()
        self.verdict, verdict = os.pipe()
        runner = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _be_the_agent(plan, runner, (source, out, err), gate, verdict)
        for descriptor in (source, out, err, gate, verdict):
            os.close(descriptor)
        self.started = starttime(self.pid)
        self.status: int | None = None

    def open_gate(self) -> None:
        """Let it exec. Whatever must be on record before it can do anything is on record by now."""
        # Only from here on does it have a group of its own and default signals: earlier ones would miss it.
        os.read(self.verdict, 1)
        os.set_blocking(self.verdict, False)
        # A child that was killed at its gate reads nothing: its status tells.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._gate, b"g")
        os.close(self._gate)

    def exec_error(self) -> int:
        """The errno with which exec failed, 0 when it did not; for one call, when `verdict` is readable."""
        raw = os.read(self.verdict, _ERRNO.size)
        os.close(self.verdict)
        return int(_ERRNO.unpack(raw)[0]) if len(raw) == _ERRNO.size else 0

    def signal_group(self, number: int) -> None:
        """Signal its process group; nothing once it is reaped, for then the number may be another's."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs, or when a signal ended it."""
        return os.WEXITSTATUS(self.status) if self.status is not None and os.WIFEXITED(self.status) else None

    @property
    def signal(self) -> int | None:
        """The signal that ended it."""
        return os.WTERMSIG(self.status) if self.status is not None and os.WIFSIGNALED(self.status) else None


def _pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    # Large reads mean few syncs under a flood. The user's pipe budget may be spent: then it stays small.
    with contextlib.suppress(OSError):
        fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return reading, writing


def _stdin(plan: StartPlan) -> tuple[int, int | None]:
    """The descriptor the agent reads, and the one the runner writes."""
    if plan.stdin == "pipe":
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        return reading, writing
    return os.open(b"/dev/null", os.O_RDONLY | os.O_CLOEXEC), None


def reset_signals() -> None:
    """Give a forked child the default of every signal: exec would hand on that Python ignores SIGPIPE."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


def _be_the_agent(plan: StartPlan, runner: int, stdio: tuple[int, int, int], gate: int, verdict: int) -> None:
    """Never returns: exec, or exit 127 with the errno on the verdict pipe."""
    try:
        reset_signals()
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != runner:
            os._exit(127)  # the runner was killed before the line above took hold
        os.write(verdict, b"r")
        if os.read(gate, 1) != b"g":
            os._exit(127)
        os.chdir(plan.cwd)
        os.umask(0o022)  # the runner's own lets nobody read what it writes
        for target, source in enumerate(stdio):
            os.dup2(source, target)
        os.execvpe(plan.argv[0], plan.argv, plan.env)  # noqa: S606  # no shell on purpose
    except OSError as error:
        os.write(verdict, _ERRNO.pack(error.errno or 0))
    finally:
        os._exit(127)
