"""The life of one agent under its runner, from its record to its verdict.

Owns: the phases, their timers, and what each message and each ending leads to; the ladder of signals that stops an agent.
Must not: understand a word the agent says, or import anything outside the standard library (the runner starts
with `-I -S`).

Phases: *running* until the agent is reaped; *draining* while what it left behind may still write; *killing*
until no process is left below; *final* until every byte left in the pipes is in the spool and the verdict
is durable; *ended* until a daemon has collected the verdict. Each phase has a bound, except for a full
disk: then the runner waits for space, since giving up would lose bytes.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from hub.io.runner import files as runner_files
from hub.io.runner import wire as runner_wire
from hub.io.runner.agent import GatedAgent, StartPlan
from hub.io.runner.control_socket import ControlSocket
from hub.io.runner.input import Input
from hub.io.runner.loop import READ, WRITE, Loop
from hub.io.runner.proc import command_name, descendants, reap, signal_tree, stop_tree
from hub.io.runner.pump import NO_SPACE, Pump, now_ms

DEFAULT_GRACES = (5.0, 5.0, 2.0)


def read_graces(value: object) -> tuple[float, float, float]:
    """Three numbers of seconds from JSON; the defaults where they are missing or no numbers."""
    graces = list(DEFAULT_GRACES)
    if isinstance(value, list):
        for place, one in enumerate(value[:3]):
            if isinstance(one, (int, float)) and one >= 0:
                graces[place] = float(one)
    return graces[0], graces[1], graces[2]


class Ladder:
    """The steps of one stop. A grace of 0 skips its signal; SIGKILL is never skipped.

    Attributes:
        reason: Why it was begun; "" before that. The first reason stands.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._steps: list[tuple[int, float]] = []

    def begin(self, reason: str, graces: tuple[float, float, float]) -> bool:
        """Start, or make a running stop shorter. True when the next step is due at once."""
        interrupt, terminate, kill = graces
        steps = [(signal.SIGINT, interrupt), (signal.SIGTERM, terminate), (signal.SIGKILL, kill)]
        wanted = [(int(number), grace) for number, grace in steps if grace > 0 or number == signal.SIGKILL]
        if not self.reason:
            self.reason = reason
            self._steps = wanted
            return True
        # A later request never begins anew: it drops the steps it does not want, and shortens the others.
        limits = dict(wanted)
        before = len(self._steps)
        self._steps = [
            (number, min(grace, limits[number])) for number, grace in self._steps if number in limits
        ]
        return len(self._steps) < before

    def step(self) -> tuple[int, float] | None:
        """The next signal and how long to wait after it; None when all were sent."""
        return self._steps.pop(0) if self._steps else None


HEADROOM = 4 * 1024 * 1024
"""Bytes an agent may still write while it is stopped for a full spool; then it is no longer read."""
FIRST_ATTACH = 10.0
"""Seconds a daemon has for its first attach, however short the orphan grace is."""
QUIET = 0.25
"""Seconds for processes that outlive the agent without holding its output."""
KILL_AGAIN = 0.02
KILL_LIMIT = 5.0
"""Seconds after which a process that cannot be killed (another user's) is left, and named in the verdict."""
MAX_STRAYS = 32


class Core:
    """Everything about one run. `run` returns when nothing is left to do."""

    def __init__(self, launch: dict[str, object], run_id: str, lifeline: int) -> None:
        self._run_id = run_id
        self._key = seal_key(launch)
        self._graces = read_graces(launch.get("graces"))
        self._orphan_grace = _number(launch, "orphanGrace", 120.0)
        self._spool_limit = _number(launch, "spoolLimit", 512 * 1024 * 1024)
        self._drain = _number(launch, "drain", 2.0)
        self._linger = _number(launch, "linger", 1.0)
        self._phase = "running"
        self._paused = self._quiet = self._guardian_dead = self._unpublished = False
        self._exec_errno = 0
        self._strays: list[dict[str, object]] = []
        self._kill_until = 0.0
        self._ladder = Ladder()
        self._loop = Loop()
        self._spool = runner_files.Spool(int(_number(launch, "stderrLimit", 16 * 1024 * 1024)))
        self._control_socket = ControlSocket(self._loop, self._spool, self._hear, self._peer_changed)
        self._plan = StartPlan(launch, run_id)
        self._agent = GatedAgent(self._plan)
        self._input = Input(self._agent.stdin)
        self._pump = Pump(self._loop, self._spool, (self._agent.out, self._agent.err), self._pumped)
        self._started_at = now_ms()
        self._loop.watch(lifeline, READ, lambda _: self._guardian_gone(lifeline))

    def start(self) -> None:
        """Put the start on record, then let the agent go.

        Raises:
            OSError: The record could not be written: the agent dies at its gate and never runs.
        """
        agent = self._agent
        argv0 = os.fsdecode(self._plan.argv[0])
        runner_files.write_json(
            runner_files.AGENT,
            {"pid": agent.pid, "starttime": agent.started, "argv0": argv0, "at": self._started_at},
            self._key,
        )
        self._loop.on_signal(signal.SIGCHLD, self._child_ended)
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.on_signal(number, lambda: self._stop("terminated", self._graces))
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._loop.after("orphan", max(self._orphan_grace, FIRST_ATTACH), self._orphaned)
        agent.open_gate()
        self._loop.watch(agent.verdict, READ, lambda _: self._exec_told())
        self._pump.watch()

    def run(self) -> None:
        """Serve until the verdict is collected, or nobody came for it."""
        while self._phase != "left":
            self._loop.turn()
            self._pump.rest()
        self._control_socket.close()
        self._spool.close()

    # What comes from the daemon.

    def _hear(self, kind: int, payload: bytes) -> None:
        match kind:
            case runner_wire.INPUT:
                key, data = runner_wire.decode_input(payload)
                self._control_socket.tell({"input": key, "result": self._input.take(key, data, now_ms())})
                self._feed()
            case runner_wire.CLOSE_STDIN:
                self._input.close_when_written()
                self._feed()
            case runner_wire.STOP:
                wish = runner_wire.decode_json(payload)
                graces = read_graces(wish["graces"]) if "graces" in wish else self._graces
                self._stop(str(wish.get("reason") or "asked"), graces)
            case runner_wire.PAUSE | runner_wire.CONTINUE:
                self._pause(kind == runner_wire.PAUSE)
            case _:
                raise runner_wire.WireError(f"unknown message {kind}")

    def _feed(self, _events: int = 0) -> None:
        """Write to the agent what it takes now; the rest when it reads."""
        descriptor = self._input.descriptor
        if descriptor is None:
            return
        # Watched before the write: a pipe that closes in it must be forgotten by its number.
        self._loop.watch(descriptor, WRITE, self._feed)
        self._input.flush()
        if not self._input.pending:
            self._loop.watch(descriptor, 0)

    def _pause(self, wanted: bool) -> None:  # noqa: FBT001
        if self._phase != "running" or (wanted and self._ladder.reason):
            return
        self._agent.signal_group(signal.SIGSTOP if wanted else signal.SIGCONT)
        stop_tree(signal.SIGSTOP if wanted else signal.SIGCONT)
        self._paused = wanted
        self._tell()

    def _peer_changed(self) -> None:
        if self._control_socket.attached is not None:
            self._loop.cancel("orphan")
            self._loop.cancel("linger")
            self._control_socket.greet({**self._state(), **self._identity()})
        elif self._phase != "ended":
            self._loop.after("orphan", self._orphan_grace, self._orphaned)
        elif self._control_socket.collected:
            self._leave()
        else:
            self._loop.after("linger", self._linger, self._leave)

    # Stopping.

    def _orphaned(self) -> None:
        self._stop("orphaned", self._graces)

    def _guardian_gone(self, lifeline: int) -> None:
        """This process is the last one to guard the tree: end it while that is so."""
        self._loop.watch(lifeline, 0)
        self._guardian_dead = True
        self._drain = 0.0
        self._stop("guardian_killed", (0.0, 0.0, 0.0))

    def _stop(self, reason: str, graces: tuple[float, float, float]) -> None:
        if self._phase != "running":
            return
        self._pause(False)
        if self._ladder.begin(reason, graces):
            self._step()
        self._tell()

    def _step(self) -> None:
        step = self._ladder.step()
        if step is not None and step[0] != signal.SIGKILL:
            self._agent.signal_group(step[0])
            self._loop.after("ladder", step[1], self._step)
            return
        signal_tree(signal.SIGKILL)
        self._agent.signal_group(signal.SIGKILL)
        self._loop.after("ladder", KILL_AGAIN, self._step)

    # Ending.

    def _exec_told(self) -> None:
        self._loop.watch(self._agent.verdict, 0)
        self._exec_errno = self._agent.exec_error()
        if self._exec_errno:
            self._tell()

    def _child_ended(self) -> None:
        ended, more = reap()
        for pid, status in ended:
            if pid == self._agent.pid:
                self._agent.status = status
                self._agent_ended()
        if self._phase == "killing" and not more:
            self._finish()
        elif self._phase == "draining" and not more and self._pump.exhausted:
            self._kill_rest()

    def _agent_ended(self) -> None:
        self._phase = "draining"
        self._paused = False
        self._loop.cancel("ladder")
        self._loop.cancel("orphan")
        if self._input.descriptor is not None:
            self._loop.watch(self._input.descriptor, 0)
            self._input.close()
        self._loop.after("drain", self._drain, self._kill_rest)
        self._pump_ended()
        self._tell()

    def _pump_ended(self) -> None:
        """With both pipes at their end nothing more will be written: no reason to wait long."""
        if self._phase == "draining" and self._pump.exhausted and not self._quiet:
            self._quiet = True
            alone = not descendants(os.getpid())
            self._loop.after("drain", 0.0 if alone else min(self._drain, QUIET), self._kill_rest)

    def _kill_rest(self) -> None:
        self._phase = "killing"
        self._loop.cancel("drain")
        left = descendants(os.getpid())
        self._strays = [{"pid": pid, "name": command_name(pid)} for pid, _ in left[:MAX_STRAYS]]
        self._kill_until = time.monotonic() + KILL_LIMIT
        self._kill()

    def _kill(self) -> None:
        if self._phase != "killing":
            return
        signal_tree(signal.SIGKILL)
        if not reap()[1] or time.monotonic() >= self._kill_until:
            self._finish()
        else:
            self._loop.after("kill", KILL_AGAIN, self._kill)

    def _finish(self) -> None:
        """Every writer is dead: take the rest, and make the verdict durable before anybody hears of it."""
        self._phase = "final"
        self._loop.cancel("kill")
        if not self._pump.empty():
            return  # called again when there is space
        verdict = self._verdict()
        try:
            runner_files.write_json(runner_files.VERDICT, verdict, self._key)
        except OSError as error:
            if error.errno in NO_SPACE:
                self._unpublished = True
                self._tell()
                self._loop.after("verdict", 1.0, self._finish)
                return
            # The run directory is gone or broken: whoever is attached hears the verdict, and nobody else can.
            sys.stderr.write(f"no verdict was written: {error}\n")
        self._phase = "ended"
        self._control_socket.end(verdict)
        if self._guardian_dead or self._ladder.reason == "orphaned":
            self._leave()
        elif self._control_socket.attached is None:
            self._loop.after("linger", self._linger, self._leave)

    def _leave(self) -> None:
        self._phase = "left"

    # What the pump and the daemon are told.

    def _pumped(self, what: str) -> None:
        if what == "data":
            self._control_socket.pour()
            self._check_limit()
        elif what == "eof":
            self._pump_ended()
        elif what == "broken":
            self._stop("io_error", self._graces)
        else:
            self._tell()
            if what == "space" and self._phase == "final":
                self._finish()

    def _check_limit(self) -> None:
        size = self._spool.ends[0]
        if size < self._spool_limit or self._phase != "running":
            return
        if self._ladder.reason == "":
            self._stop("spool_full", self._graces)
        elif size >= self._spool_limit + HEADROOM:
            self._pump.halt()

    def _tell(self) -> None:
        self._control_socket.tell(self._state())

    def _state(self) -> dict[str, object]:
        return {
            "state": self._phase,
            "paused": self._paused,
            "noSpace": self._pump.no_space or self._unpublished,
            "stopping": self._ladder.reason,
            "execErrno": self._exec_errno,
        }

    def _identity(self) -> dict[str, object]:
        return {
            "v": runner_wire.VERSION,
            "runId": self._run_id,
            "pid": os.getpid(),
            "agentPid": self._agent.pid,
            "startedAt": self._started_at,
            "stdoutBytes": self._spool.ends[0],
            "stderrBytes": self._spool.ends[1],
            "contained": True,  # who runs an older hub reads it
        }

    def _verdict(self) -> dict[str, object]:
        return {
            "v": runner_wire.VERSION,
            "code": self._agent.code,
            "signal": self._agent.signal,
            "asked": bool(self._ladder.reason),
            "reason": "exec_failed" if self._exec_errno else self._ladder.reason or "exited",
            "execErrno": self._exec_errno,
            "startedAt": self._started_at,
            "endedAt": now_ms(),
            "stdoutBytes": self._spool.ends[0],
            "stderrBytes": self._spool.ends[1],
            "stderrDropped": self._spool.seen[1] - self._spool.ends[1],
            "stderrTail": self._spool.tail.decode("utf-8", "replace"),
            "strays": self._strays,
            "orphaned": self._ladder.reason == "orphaned",
            "ioErrno": self._pump.broken,
        }


def seal_key(launch: dict[str, object]) -> bytes:
    """The key that the daemon gave this run for what it leaves behind; it is good for nothing else."""
    return bytes.fromhex(str(launch.get("sealKey", "")))


def _number(launch: dict[str, object], name: str, default: float) -> float:
    value = launch.get(name, default)
    return float(value) if isinstance(value, (int, float)) and value >= 0 else default
