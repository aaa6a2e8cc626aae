"""The loops that carry a pipeline run, and each node under way: look at the record, do the next thing, look again.

Owns: the order of a node's steps (bases, intent, session, result) and what an error in one leads to.
Must not: remember anything between two steps; a restart enters the loops at the same place.

Nodes that wait for nothing run side by side, as many as there are places for sessions.

A node's session id is on record before the session is asked for, and the session actor starts an id once. So
whatever dies between the two, the next look asks again and nothing runs twice.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.condition import beside
from hub.actors.common.crash_loop import CrashLoopGuard
from hub.actors.common.transient import TRANSIENT
from hub.actors.pipelines.store import PipelineRunStore
from hub.domain.config.model import PipelineNode
from hub.domain.failure import ErrorNote
from hub.domain.pipeline.run import (
    NodeRun,
    PipelineRun,
    bases,
    finished,
    halted,
    next_node,
    under_way,
)
from hub.domain.pipeline.state import NodeOutcome, NodeState
from hub.domain.session import SessionRecord, SessionState
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git import repository
from hub.io.git.merge import merge_bases
from hub.messages.session import GetSessionFacts, ReleaseRun, RequestStop, SessionEnd, SessionsInbox, StartRun
from hub.messages.settings import GetConfig
from supervisors import Ref

_PAUSE = 2.0
_LOG = logging.getLogger(__name__)
_STATES = {
    SessionState.COMPLETED: NodeState.COMPLETED,
    SessionState.FAILED: NodeState.FAILED,
    SessionState.STOPPED: NodeState.STOPPED,
}


@attrs.define
class Conductor:
    """Runs as the pipelines actor's one background task."""

    run_store: PipelineRunStore
    root: Path
    session: Ref[SessionsInbox]
    settings: Ref[GetConfig]
    new_id: Callable[[str], str]
    crash_loop: CrashLoopGuard
    unstopped: HubError | None = None
    """What keeps a run that is to stop from ending."""
    _said: Code | None = None
    _closed: str = ""
    """The run whose end is told and whose place is free."""
    _places: int = 1
    """For how many sessions there are places, as far as is known."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to do for any run."""
        return self.run_store.run is None or self.run_store.run.run_id == self._closed

    async def run(self) -> None:
        """Go on for ever."""
        while True:
            await self.run_store.wait_for(lambda: not self.over)
            run_id = self.run_store.now.run_id
            async with trio.open_nursery() as nodes:
                carried: set[str] = set()
                # While the end of this run is told, the next one may be on record already.
                while not self.over and self.run_store.now.run_id == run_id:
                    for node in under_way(self.run_store.now):
                        if node.id not in carried:
                            carried.add(node.id)
                            nodes.start_soon(self._carry, node.id)
                    await self._try(self._step)
                nodes.cancel_scope.cancel(reason="the run is over")

    async def _carry(self, node_id: str) -> None:
        """A node from its intent to its end."""
        while not self.run_store.now.node(node_id).state.ended:
            await self._try(partial(self._step_of, node_id))

    async def _step_of(self, node_id: str, run: PipelineRun) -> None:
        """Where it stands is told before it goes on: a state that came and went at once was there, too."""
        await self.run_store.publish()
        node = self.run_store.now.node(node_id)
        await (self._launch if node.state is NodeState.STARTING else self._follow)(node, run)

    async def _try(self, step: Callable[[PipelineRun], Awaitable[None]]) -> None:
        run = self.run_store.now
        try:
            await step(run)
            self._said = None
        except HubError as error:
            await self._wait_for_better(error)  # what a node can fail of has been caught there
        except Exception:
            # A restart may heal it. One that comes back every time would take the daemon with it.
            # Being taken up is a write too, and no progress.
            if not self.crash_loop.again(run.run_id, run.seq - run.resumed):
                raise
            _LOG.exception("the pipeline cannot go on")
            await self._give_up(run)

    async def _wait_for_better(self, error: HubError) -> None:
        """Said once, as soon as it can be, and tried every two seconds: a full disk ends no run."""
        if self._said is not error.code:
            with trio.move_on_after(_PAUSE), contextlib.suppress(HubError):
                await self.run_store.outbox.trouble(error)
                self._said = error.code
        await trio.sleep(_PAUSE)

    async def _give_up(self, run: PipelineRun) -> None:
        error = HubError(Code.INTERNAL, "hub made the same mistake again and again; the run cannot go on.")
        failed = under_way(run) or [n for n in run.nodes if not n.state.ended][:1]
        if not run.active or not failed:
            self._closed = run.run_id
            return
        for node in failed:
            run = run.changed(node.id, state=NodeState.FAILED, error=ErrorNote.of(error))
        self.run_store.write(finished(halted(attrs.evolve(run, stopping=True)), self.run_store.at()))

    async def _step(self, run: PipelineRun) -> None:
        await self.run_store.publish()
        if not run.active:
            self._closed, self.unstopped = run.run_id, None
            self.run_store.notify_all()
            return
        run = self.run_store.now  # a node may have ended meanwhile
        stood = halted(run)
        if stood is not run:
            self.run_store.write(stood)
            return
        going, following = under_way(run), next_node(run)
        if following is not None and len(going) < await self._room():
            await self._prepare(self.run_store.now, following)
        elif going:
            await self.run_store.wait_for(lambda: self.run_store.now.seq != run.seq)
        else:
            await self._end(run)

    async def _room(self) -> int:
        """How many nodes may be under way at once; while the settings cannot be read, as many as before."""
        with contextlib.suppress(HubError):
            self._places = (await call_until_answered(self.settings, GetConfig())).session.concurrent
        return self._places

    async def _end(self, run: PipelineRun) -> None:
        """Other sessions may start before anybody sees the end: who waits for it can start one at once."""
        await call_until_answered(self.session, ReleaseRun(run.run_id))
        self.run_store.write(finished(self.run_store.now, self.run_store.at()), "ended")

    async def _prepare(self, run: PipelineRun, node: PipelineNode) -> None:
        """The bases become one commit, then the node's session gets its id: the intent, durable."""
        words = f"hub: {run.pipeline.name}: what {node.id} begins at\n"
        try:
            base = await merge_bases(self.root, bases(run, node), words)
        except HubError as error:
            if error.code in TRANSIENT:
                raise
            self._fail(run, node.id, error)
            return
        run = self.run_store.now  # a stop may have come meanwhile
        if run.stopping:
            return
        session_id = self.new_id("s")
        changes = {"session_id": session_id, "branch": f"hub/{session_id}", "base": base}
        started = run.changed(node.id, state=NodeState.STARTING, started_at=self.run_store.at(), **changes)
        self.run_store.write(started, "starting")

    async def _launch(self, node: NodeRun, run: PipelineRun) -> None:
        """Ask for the session; it may have been asked for before. Where others have taken its place, it waits.

        Not if nothing of the run has begun: it is refused as any other would be, and who asked for it is told. Since a
        restart nobody waits to be told.
        """
        if not await self._begun(node):
            if self.run_store.now.stopping:
                self.run_store.write(
                    self.run_store.now.changed(node.id, state=NodeState.HALTED, how=NodeOutcome.HALTED)
                )
                return
            try:
                await self._ask_for(run, node)
            except HubError as error:
                taken = error.code is Code.SESSION_ALREADY_RUNNING and not _is_first(self.run_store.now)
                if taken or error.code in {*TRANSIENT, Code.ACCOUNT_IN_USE}:
                    raise
                self._fail(self.run_store.now, node.id, error)
                return
            failpoints.hit("pipeline.launched")
        running = self.run_store.now.changed(node.id, state=NodeState.RUNNING, how=NodeOutcome.EXECUTED)
        self.run_store.write(running, "running")

    async def _begun(self, node: NodeRun) -> bool:
        """Whether its session is on record."""
        try:
            await call_until_answered(self.session, GetSessionFacts(node.session_id))
        except HubError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            return False
        return True

    async def _ask_for(self, run: PipelineRun, node: NodeRun) -> None:
        if run.resumed and await repository.branch_exists(self.root, node.branch):
            raise _lost(node)
        wanted = run.definition(node.id)
        order = StartRun(
            task=wanted.task,
            provider=wanted.provider,
            fallback=wanted.fallback,
            verify=wanted.verify or None,
            session_id=node.session_id,
            run_id=run.run_id,
            role=node.id,
            base=node.base,
        )
        await call_until_answered(self.session, order)

    async def _follow(self, node: NodeRun, _: PipelineRun) -> None:
        """Wait for the session's end, or end it when the run is to stop."""
        try:
            end = await self._end_of(node)
        except HubError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            self._fail(self.run_store.now, node.id, _lost(node))
            return
        failpoints.hit("pipeline.heard")
        run = self.run_store.now
        state, error_note = _STATES[end.session_state], end.error
        if state is NodeState.COMPLETED and not end.snapshot_sha:
            state = NodeState.FAILED
            error_note = ErrorNote.of(
                HubError(Code.GIT_FAILED, "The node's work could not be stored in git.")
            )
        run = run.changed(
            node.id,
            state=state,
            provider=end.provider,
            handoffs=end.handoffs_done,
            verified=end.verified,
            snapshot=end.snapshot_sha,
            error=error_note,
            ended_at=self.run_store.at(),
        )
        # Whoever stops a node's session, the user or the end of the daemon, stops the run.
        self.run_store.write(attrs.evolve(run, stopping=run.stopping or state is NodeState.STOPPED), "heard")

    async def _end_of(self, node: NodeRun) -> SessionRecord:
        async def stop_when_asked() -> None:
            await self.run_store.wait_for(lambda: self.run_store.now.stopping)
            try:
                await call_until_answered(self.session, RequestStop("pipeline", node.session_id), math.inf)
            except HubError as error:  # it has just ended, or a disk keeps it from ending: the wish stays
                self.unstopped = error if error.code in TRANSIENT else None
                self.run_store.notify_all()

        end = partial(call_until_answered, self.session, SessionEnd(node.session_id), math.inf)
        return await beside(end, stop_when_asked)

    def _fail(self, run: PipelineRun, node_id: str, error: HubError) -> None:
        """The node failed without a session's word for it."""
        how = run.node(node_id).how or NodeOutcome.HALTED
        changes = {
            "state": NodeState.FAILED,
            "how": how,
            "error": ErrorNote.of(error),
            "ended_at": self.run_store.at(),
        }
        self.run_store.write(run.changed(node_id, **changes))


def _is_first(run: PipelineRun) -> bool:
    """Whether the one node under way is the first that is carried out, since the run was asked for."""
    begun = run.resumed or any(node.how is NodeOutcome.EXECUTED for node in run.nodes)
    return not begun and len(under_way(run)) == 1


def _lost(node: NodeRun) -> HubError:
    return HubError(
        Code.STATE_CORRUPT,
        f"The record of session {node.session_id} is gone; what it did is on {node.branch}.",
        hint="Look at the branch, then run the pipeline again.",
    )
