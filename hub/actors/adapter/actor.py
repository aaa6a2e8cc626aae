"""The adapter: one actor a dispatched agent, between its runner and the session.

Owns: the connection to the runner, the fold over the agent's stream, and redaction before anything leaves.
Must not: decide anything about the session, write to the log, or keep state a re-attach could not rebuild.

It reads the spool from its first byte into a fresh fold, whatever was read before: the fold's state is rebuilt, the
log skips the events it has, and every write is sent again (the runner takes each key once). So killing this actor,
or the daemon, costs nothing but the reading.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import assert_never

import attrs
import trio

from hub.actors.adapter.input import AgentInput
from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import TRANSIENT, passes
from hub.domain.event import Event, EventType
from hub.domain.redaction.events import EventRedactor
from hub.domain.text.plain import plain
from hub.domain.text.safe import clean, decode
from hub.errors import Code, HubError
from hub.installed import outdated, replaced
from hub.io.runner.client import RunnerClient, RunnerLost, spawn_runner
from hub.io.runner.framing import Line, LineFramer
from hub.io.runner.launch import AgentLaunch
from hub.io.runner.replies import untaken
from hub.io.runner.view import (
    Dead,
    ErrorOutput,
    Message,
    Output,
    RunEnd,
    RunEnded,
    RunnerStatus,
    Running,
    SpoolReader,
    WriteTaken,
    inspect,
    killed,
)
from hub.messages.agent import (
    AdapterAnswer,
    AdapterInbox,
    AdapterInterrupt,
    AdapterPause,
    AdapterReply,
    AdapterStop,
    AgentBatch,
    AgentEvent,
    Dispatch,
)
from hub.providers.base import Outcome, Step
from hub.providers.base import ProcessExit as AgentExit
from hub.providers.provider import Provider
from supervisors import Actor, Answer, Ref, Shutdown

_BACKLOG = 512
"""Events that may wait for the session to take those before; then the agent's output waits too, in its spool."""
_TURN = 16
"""Lines after which everybody else in the daemon has a turn, however many the agent has written at once or one by one."""
_HEARD = 0.25
"""Seconds after which lines that made no event are told of as well: the agent is not silent."""
_CALL_TIMEOUT = 60.0
_SETTLE = 0.2
_AGAIN = 0.02
"""Seconds between a lost connection and the look at what became of the runner."""
_NO_SPACE_PAUSE = 1.0
"""Seconds between two tries to hand over a batch that the full disk does not take; its bytes are in the spool."""
_STDERR_PLACE = 1 << 52
"""Places of events made from standard error: behind any place in a spool, and below 2^53."""
_RUNNER_PLACE = (1 << 53) - 2
_END_PLACE = (1 << 53) - 1
"""Place of the events made from the end of the run."""
_CUT_SHORT = {
    "spool_full": "the agent was stopped: it wrote more than hub keeps of one run",
    "io_error": "the agent was stopped: what it wrote could not be kept, because the disk failed",
}
"""Ends of a run that are neither the agent's doing nor anybody's wish."""


class Adapter(Actor[AdapterInbox]):
    """One dispatch."""

    def __init__(
        self,
        dispatch: Dispatch,
        provider: Provider,
        session: Ref[AgentBatch],
        redactor: EventRedactor,
        launch: Callable[[], AgentLaunch],
    ) -> None:
        self._dispatch = dispatch
        self._run_dir = dispatch.assignment.run_dir
        self._session = session
        self._redactor = redactor
        self._launch = launch
        self._stream = provider.stream(dispatch.assignment)
        self._out = LineFramer()
        self._err = LineFramer()
        self._ended = trio.Event()
        self._input = AgentInput(self._stream, self._caught_up, self._ended)
        self._read = 0
        self._spooled: float = math.inf
        """How much of the agent's output there was when the runner was attached to; unknown before."""
        self._full = self._said_full = False
        self._heard = time.time()
        self._lines = 0
        self._told: Outcome | None = None
        self._told_current = False
        self._told_at = -math.inf
        self._exit: AgentExit | None = None
        self._news = trio.Event()
        self._taken_over = trio.Event()
        self._pending: list[AgentEvent] = []
        self._outcome: Outcome | None = None

    async def started(self) -> None:
        """Ready when the agent runs, or when what is left of its run is found.

        Raises:
            HubError: `dispatch_failed`, or `outdated` where hub was installed anew; the agent certainly does not run.
        """
        if not self._dispatch.attach:
            await self._spawn()
        self._input.remember(untaken(self._run_dir))
        self.ctx.nursery.start_soon(self._follow)
        self.ctx.nursery.start_soon(self._deliver)

    async def _spawn(self) -> None:
        try:
            await spawn_runner(self._run_dir, self._launch())
        except HubError as error:
            if error.code is not Code.DISPATCH_FAILED or passes(error) or not replaced():
                raise
            # The runner is a program on the disk, now of another hub. An end in order would stop the session.
            hint = f"Its sessions go on with the next: kill -9 {os.getpid()}   Then: hub daemon"
            raise outdated(hint, retry=True) from error

    async def handle(self, message: AdapterInbox) -> Answer:
        """Pass an order on to the agent. One that has ended needs none; what is answered, the fold has read."""
        with contextlib.suppress(RunnerLost):
            match message:
                case AdapterReply(text=text, key=key):
                    await self._input.reply(key, text)
                case AdapterAnswer(native_id=native_id, approved=approved, note=note):
                    await self._input.write(self._stream.answer(native_id, approved, note))
                case AdapterInterrupt():
                    await self._input.write(self._stream.interrupt())
                case AdapterStop():
                    await self._input.stop(message)
                case AdapterPause(pause=pause):
                    await self._input.pause(on=pause)
                case _:
                    assert_never(message)
        return message.handled()

    # --- reading --------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        """Read until the run is over, through every loss of the connection."""
        await self._apply(self._stream.open(), 0, 0)
        while not self._ended.is_set():
            state = inspect(self._run_dir)
            match state:
                case Running():
                    await self._attached()
                case RunEnded(verdict=verdict):
                    await self._replay()
                    await self._over(verdict)
                case Dead(settled=False):
                    await trio.sleep(_SETTLE)
                case Dead():
                    await self._replay()
                    await self._over(killed(time.time()))
                case _:
                    raise HubError(Code.DISPATCH_FAILED, "The agent was never started.")

    async def _attached(self) -> None:
        try:
            async with RunnerClient(self._run_dir) as client:
                hello = await client.attach(self._out.offset, self._err.offset)
                self._spooled = hello.stdout_bytes
                self._space(full=hello.status.no_space)
                await self._input.connected(client, self.ctx.nursery)
                async for message in client:
                    await self._take(message)
                await client.detach()
        except RunnerLost as lost:
            if lost.displaced:
                raise Shutdown("another adapter has attached") from lost
            await trio.sleep(_AGAIN)
        finally:
            self._input.lost()

    def _caught_up(self) -> bool:
        return self._read >= self._spooled

    async def _replay(self) -> None:
        with contextlib.closing(SpoolReader(self._run_dir, self._out.offset, self._err.offset)) as spool:
            while chunks := await trio.to_thread.run_sync(spool.next):
                for chunk in chunks:
                    await self._take(chunk)

    async def _take(self, message: Message) -> None:
        match message:
            case Output():
                await self._output(message)
            case ErrorOutput():
                await self._errors(message)
            case WriteTaken():
                await self._input.taken(message)
            case RunnerStatus(no_space=full):
                self._space(full=full)
            case RunEnd():
                await self._over(message)
        await self._input.pass_replies()
        if self._pending or self._outcome is not self._told or self._told_current is not self._caught_up():
            self._news.set()

    def _space(self, *, full: bool) -> None:
        """Whether what the agent says, or how it ended, waits for space; each change is news, the first is an event."""
        if full is self._full:
            return
        self._full = full
        if full and not self._said_full:
            self._said_full = True
            text = "the disk is full; the agent is held back until there is space"
            self._add(
                [Event(EventType.WAITING, text, {"code": str(Code.NO_SPACE)})], _RUNNER_PLACE, self._heard
            )
        self._news.set()

    async def _output(self, message: Output) -> None:
        for line in self._out.feed(message.data, message.offset):
            await self._line(line, message.at)
        self._read = self._out.offset

    async def _line(self, line: Line, at: float) -> None:
        if line.truncated:
            self._note(line, at)
            return
        self._heard = at
        await self._apply(self._stream.feed(line.data, at), line.end, at)
        if not self._pending and trio.current_time() - self._told_at >= _HEARD:
            self._news.set()
        while len(self._pending) >= _BACKLOG:
            self._news.set()
            await self._room()

    def _note(self, line: Line, at: float) -> None:
        size = len(line.data) + line.truncated
        text = f"a line of {size} bytes was cut: {clean(decode(line.data[:200]))}"
        self._add(
            [Event(EventType.SYSTEM, text, {"unknown": True, "truncated": line.truncated})], line.end, at
        )

    async def _errors(self, message: ErrorOutput) -> None:
        for line in self._err.feed(message.data, message.offset):
            await self._error_line(line, message.at)

    async def _error_line(self, line: Line, at: float) -> None:
        await self._apply(self._stream.feed_stderr(line.data, at), _STDERR_PLACE + line.end, at)

    async def _apply(self, step: Step, place: int, at: float) -> None:
        self._add(step.events, place, at)
        await self._input.write(step.writes)
        if step.close_stdin:
            await self._input.close()
        self._outcome = self._outcome or step.outcome
        self._lines += 1
        if self._lines % _TURN == 0:
            await trio.lowlevel.checkpoint()

    def _add(self, events: Sequence[Event], place: int, at: float) -> None:
        """Redact and queue. Nothing depends on how the lines were batched, so a replay makes the same events."""
        safe = [out for event in events for out in self._redactor.feed(plain(event))]
        self._queue(safe, place, at)

    def _queue(self, events: Sequence[Event], place: int, at: float) -> None:
        self._pending += [
            AgentEvent(place, index, int(at * 1000), event) for index, event in enumerate(events)
        ]

    async def _over(self, verdict: RunEnd) -> None:
        if self._ended.is_set():
            return
        for line in self._out.finish():
            await self._line(line, verdict.ended_at)
        for line in self._err.finish():
            await self._error_line(line, verdict.ended_at)
        end = AgentExit(verdict.code, verdict.signal, asked=verdict.asked, stderr_tail=verdict.stderr_tail)
        step = self._stream.finish(end, verdict.ended_at)
        why = _CUT_SHORT.get(verdict.reason)
        told = [Event(EventType.ERROR, why, {"reason": verdict.reason}), *step.events] if why else step.events
        last = [out for event in told for out in self._redactor.feed(plain(event))]
        self._queue([*last, *self._redactor.flush()], _END_PLACE, verdict.ended_at)
        self._outcome = self._outcome or step.outcome
        self._exit = end
        self._ended.set()
        self._news.set()
        while self._exit is not None:
            await self._room()

    def _redacted(self, outcome: Outcome | None) -> Outcome | None:
        """The agent's last words are for people: no sink sees more of them than of its events."""
        if outcome is None:
            return None
        failure = outcome.failure
        if failure is not None:
            failure = attrs.evolve(failure, text=self._redactor.text(clean(failure.text)))
        return attrs.evolve(outcome, failure=failure, text=self._redactor.text(clean(outcome.text)))

    async def _room(self) -> None:
        """Wait until the session has taken a batch."""
        self._taken_over = trio.Event()
        await self._taken_over.wait()

    async def _deliver(self) -> None:
        """Hand over all there is, again and again, in order: while one batch becomes durable the next one grows."""
        while True:
            await self._news.wait()
            self._news = trio.Event()
            end = self._exit
            await self._send(end)
            if end is not None:
                self._exit = None
            self._taken_over.set()

    async def _send(self, end: AgentExit | None) -> None:
        """Hand the batch to the session; it may be restarting, and it takes a repeated batch for the same one."""
        events, self._pending = self._pending, []
        self._told, self._told_at = self._outcome, trio.current_time()
        self._told_current = self._caught_up()
        outcome = self._redacted(self._outcome)
        batch = AgentBatch(
            self._dispatch.assignment.dispatch_id,
            events,
            tools_in_flight=self._stream.tools_in_flight,
            native_session=self._stream.native_session,
            alive=self._stream.alive,
            outcome=outcome,
            exit=end,
            no_space=self._full,
            current=self._told_current or end is not None,
        )
        while True:
            try:
                await call_until_answered(self._session, batch, _CALL_TIMEOUT)
            except HubError as error:
                if error.code not in TRANSIENT:
                    raise
                await trio.sleep(_NO_SPACE_PAUSE)
            else:
                return
