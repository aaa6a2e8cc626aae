"""The pipelines actor: the list of pipelines, and the one run a daemon carries at a time.

Owns: `.hub/pipelines.json`, the answers about the run, and whether a run may begin.
Must not: carry the run on (the conductor does), or start an agent (the session does).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from itertools import chain
from typing import assert_never

import attrs
import trio

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.actors.pipelines.answers import run_status, shown
from hub.actors.pipelines.conductor import Conductor
from hub.api import pipelines as api
from hub.api.pipelines import RunStarted, RunStatus
from hub.domain.config.model import PipelineSettings
from hub.domain.config.profiles import together
from hub.domain.pipeline import graph as rules
from hub.domain.pipeline.run import NodeRun, PipelineRun, begin, taken_up
from hub.domain.pipeline.state import NodeState
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git import repository
from hub.io.git.merge import run_base
from hub.io.project.places import Places
from hub.io.records.pipelines import read_stored, replace_stored
from hub.messages.pipelines import (
    GetPipelineRun,
    GetPipelines,
    PipelinesInbox,
    ReplacePipelines,
    RunPipeline,
    StopPipeline,
)
from hub.messages.session import GetInUse, GetSessionFacts
from hub.messages.settings import GetConfig
from supervisors import Actor, Answer, Ref

_PATIENCE = 5.0
"""Seconds for a session to say who has its work."""
_UNQUEUED = "Wait for its end: hub ls   Or end it: hub stop SESSION"


class Pipelines(Actor[PipelinesInbox]):
    """One run at a time; its record outlives this actor and the daemon."""

    answers = (HubError,)

    def __init__(
        self,
        places: Places,
        settings: Ref[GetConfig],
        providers: Collection[str],
        conductor: Conductor,
    ) -> None:
        self._places = places
        self._settings = settings
        self._providers = providers
        self._conductor = conductor
        self._run_store = self._conductor.run_store
        self._beginning = self._unwanted = False

    async def continue_(self) -> None:
        """Read the record back and go on where it says."""
        damage = self._run_store.load()
        failpoints.hit("recover.pipeline")
        if damage is not None:
            with contextlib.suppress(HubError):
                await self._run_store.outbox.trouble(damage)
        if self._run_store.active:
            self._run_store.write(taken_up(self._run_store.now))
        self.ctx.nursery.start_soon(self._conductor.run)

    async def handle(self, message: PipelinesInbox) -> Answer:
        """Each message is a question, a new list, or a wish for a run."""
        match message:
            case GetPipelines():
                return message.answer(shown(await self._all()))
            case ReplacePipelines(pipelines=pipelines):
                return message.answer(await self._replace(tuple(pipelines)))
            case RunPipeline():
                return await self._run(message)
            case GetPipelineRun():
                return self.answer_later(message, self._status())
            case StopPipeline():
                return self._stop(message)
            case _:
                assert_never(message)

    async def _status(self) -> RunStatus | None:
        """The run; of a node at work who has it now, which the run's own record is told at the node's end."""
        if self._run_store.run is None:
            return None
        run = self._run_store.now

        async def ask(node: NodeRun) -> None:
            nonlocal run
            facts = await call_or_none(self._conductor.session, GetSessionFacts(node.session_id), _PATIENCE)
            if facts is not None:
                now = facts.record
                run = run.changed(node.id, provider=now.provider, handoffs=now.handoffs_done)

        async with trio.open_nursery() as nursery:
            for node in run.nodes:
                if node.state is NodeState.RUNNING:
                    nursery.start_soon(ask, node)
        return run_status(run)

    async def _configured(self) -> tuple[PipelineSettings, ...]:
        return (await call_until_answered(self._settings, GetConfig())).pipelines

    async def _all(self) -> tuple[PipelineSettings, ...]:
        return together(await self._configured(), read_stored(self._places))

    async def _replace(self, pipelines: tuple[PipelineSettings, ...]) -> list[api.Pipeline]:
        configured = await self._configured()
        rules.refuse(
            chain(rules.problems(pipelines, self._providers), rules.contradictions(configured, pipelines))
        )
        replace_stored(self._places, tuple(each for each in pipelines if each not in configured))
        return shown(await self._all())

    async def _run(self, order: RunPipeline) -> Answer:
        if self._run_store.active or self._beginning:
            raise HubError(Code.SESSION_ALREADY_RUNNING, "A pipeline is already running.", hint=_UNQUEUED)
        pipeline = rules.named(await self._all(), order.name)
        rules.check_runnable(pipeline, self._providers)
        in_use = await call_until_answered(self._conductor.session, GetInUse())
        if len(in_use) >= (await call_until_answered(self._settings, GetConfig())).session.concurrent:
            names = ", ".join(facts.session_id for facts in in_use)
            detail = f"A session is already running: {names}."
            raise HubError(Code.SESSION_ALREADY_RUNNING, detail, hint=_UNQUEUED)
        earlier = self._run_store.run if order.resume else None
        if earlier is not None and earlier.pipeline.name != pipeline.name:
            earlier = None
        self._beginning, self._unwanted = True, False
        return self.answer_later(order, self._begin(pipeline, earlier))

    async def _begin(self, pipeline: PipelineSettings, earlier: PipelineRun | None) -> RunStarted:
        """Beside the inbox: the user's uncommitted work may be large. Answered once the first session is accepted."""
        try:
            run = run_status(await self._started_run(pipeline, earlier))
            return RunStarted(**attrs.asdict(run, recurse=False))
        finally:
            self._beginning = False

    async def _started_run(self, pipeline: PipelineSettings, earlier: PipelineRun | None) -> PipelineRun:
        run = begin(self._conductor.new_id("p"), pipeline, self._run_store.at(), earlier)
        if not run.base:
            run = await self._rooted(run)
        if self._unwanted:
            raise HubError(Code.INTERRUPTED, "The run was stopped before it began.")
        self._run_store.write(run, "begun")
        await self._run_store.wait_for(self._settled)
        refused = next((n.error for n in self._run_store.now.nodes if n.error is not None), None)
        if refused is not None and refused.code is Code.SESSION_ALREADY_RUNNING:
            raise HubError(refused.code, refused.detail)
        return self._run_store.now

    async def _rooted(self, run: PipelineRun) -> PipelineRun:
        state = await repository.repo_state(self._places.root)
        if not state.head_sha:
            raise HubError(Code.NO_COMMIT)
        config = await call_until_answered(self._settings, GetConfig())
        base = await run_base(self._places.root, run.run_id, state.head_sha, config.worktree.apart)
        return attrs.evolve(run, head=state.head_sha, base=base)

    def _settled(self) -> bool:
        """Whether the run has come past the first thing that may be refused."""
        run = self._run_store.now
        open_states = (NodeState.PENDING, NodeState.STARTING)
        moved = any(node.state not in open_states and node.how != "replayed" for node in run.nodes)
        return moved or not run.active

    def _stop(self, order: StopPipeline) -> Answer:
        if not self._run_store.active:
            self._unwanted = True
            return order.answer(None)
        if not self._run_store.now.stopping:
            run = self._run_store.now
            self._run_store.write(attrs.evolve(run, stopping=True, seq=run.seq + 1))
        return self.answer_later(order, self._stopped())

    async def _stopped(self) -> RunStatus:
        """Once the run has ended; what keeps it from ending, while a disk does."""
        conductor = self._conductor
        await self._run_store.wait_for(lambda: conductor.over or conductor.unstopped)
        if conductor.unstopped is not None and not conductor.over:
            raise conductor.unstopped
        return run_status(self._run_store.now)
