"""The pipelines actor: the list of pipelines, and the one run a daemon carries at a time.

Owns: `.hub/pipelines.json`, the answers about the run, and whether a run may begin.
Must not: carry the run on (the conductor does), or start an agent (the session does).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from itertools import chain
from typing import Any

import attrs

from hub.actors.insist import insist
from hub.actors.pipelines.conductor import Conductor
from hub.domain.config.model import Pipeline
from hub.domain.pipeline import graph as rules
from hub.domain.pipeline.run import NodeState, PipelineRun, begin, taken_up, told
from hub.errors import Code, HubError
from hub.io import failpoints, git
from hub.io.git.merge import run_base
from hub.io.pipelines import read_stored, replace_stored
from hub.io.places import Places
from hub.messages import (
    GetConfig,
    GetPipelineRun,
    GetPipelines,
    GetSessionFacts,
    ReplacePipelines,
    RunPipeline,
    StopPipeline,
)
from supervisors import DEFER, Actor, Ref, Reply


class Pipelines(Actor[Any]):
    """One run at a time; its record outlives this actor and the daemon."""

    answers = (HubError,)

    def __init__(
        self, places: Places, settings: Ref[Any], providers: Collection[str], make: Callable[[], Conductor]
    ) -> None:
        self._places = places
        self._settings = settings
        self._providers = providers
        self._conductor = make()
        self._book = self._conductor.book
        self._beginning = self._unwanted = False
        self._stop_replies: list[Reply] = []

    async def continue_(self) -> None:
        """Read the record back and go on where it says."""
        damage = self._book.load()
        failpoints.hit("recover.pipeline")
        if damage is not None:
            with contextlib.suppress(HubError):
                await self._book.say_trouble(damage)
        if self._book.active:
            self._book.write(taken_up(self._book.now))
        self.ctx.nursery.start_soon(self._conductor.run)
        self.ctx.nursery.start_soon(self._answer_stops)

    async def handle(self, message: Any) -> Any:
        """Each message is a question, a new list, or a wish for a run."""
        match message:
            case GetPipelines():
                return rules.write(await self._all())
            case ReplacePipelines(pipelines=pipelines):
                return await self._replace(tuple(pipelines))
            case RunPipeline():
                return await self._run(message)
            case GetPipelineRun():
                return told(self._book.run) if self._book.run is not None else {}
            case StopPipeline():
                return self._stop()
            case _:
                raise TypeError(f"{type(message).__name__} is not for the pipelines")

    async def _configured(self) -> tuple[Pipeline, ...]:
        config = await insist(self._settings, GetConfig())
        found: tuple[Pipeline, ...] = config.pipelines
        return found

    async def _all(self) -> tuple[Pipeline, ...]:
        return rules.together(await self._configured(), read_stored(self._places))

    async def _replace(self, pipelines: tuple[Pipeline, ...]) -> list[dict[str, Any]]:
        configured = await self._configured()
        rules.refuse(
            chain(rules.problems(pipelines, self._providers), rules.contradictions(configured, pipelines))
        )
        replace_stored(self._places, rules.own(configured, pipelines))
        return rules.write(await self._all())

    async def _run(self, order: RunPipeline) -> Any:
        if self._book.active or self._beginning:
            raise HubError(Code.SESSION_ALREADY_RUNNING, "A pipeline is already running.")
        pipeline = rules.named(await self._all(), order.name)
        rules.check_runnable(pipeline, self._providers)
        facts = await insist(self._conductor.session, GetSessionFacts())
        if facts["active"]:
            raise HubError(
                Code.SESSION_ALREADY_RUNNING, f"A session is already running: {facts['sessionId']}."
            )
        earlier = self._book.run if order.resume else None
        if earlier is not None and earlier.pipeline.name != pipeline.name:
            earlier = None
        self._beginning, self._unwanted = True, False
        return self.answer_later(self._begin(pipeline, earlier))

    async def _begin(self, pipeline: Pipeline, earlier: PipelineRun | None) -> Any:
        """Beside the inbox: the user's uncommitted work may be large. Answered once the first session is accepted."""
        try:
            return told(await self._started_run(pipeline, earlier))
        finally:
            self._beginning = False

    async def _started_run(self, pipeline: Pipeline, earlier: PipelineRun | None) -> PipelineRun:
        run = begin(self._conductor.new_id("p"), pipeline, self._book.at(), earlier)
        if not run.base:
            run = await self._rooted(run)
        if self._unwanted:
            raise HubError(Code.INTERRUPTED, "The run was stopped before it began.")
        self._book.write(run, "begun")
        await self._book.until(self._settled)
        refused = next((n.error for n in self._book.now.nodes if n.error is not None), None)
        if refused is not None and refused.code is Code.SESSION_ALREADY_RUNNING:
            raise HubError(refused.code, refused.detail)
        return self._book.now

    async def _rooted(self, run: PipelineRun) -> PipelineRun:
        state = await git.repo_state(self._places.root)
        if not state.has_commit:
            raise HubError(Code.NO_COMMIT)
        base = await run_base(self._places.root, run.run_id, state.head_sha)
        return attrs.evolve(run, head=state.head_sha, base=base)

    def _settled(self) -> bool:
        """Whether the run has come past the first thing that may be refused."""
        run = self._book.now
        open_states = (NodeState.PENDING, NodeState.STARTING)
        moved = any(node.state not in open_states and node.how != "replayed" for node in run.nodes)
        return moved or not run.active

    def _stop(self) -> Any:
        if not self._book.active:
            self._unwanted = True
            return {}
        if not self._book.now.stopping:
            run = self._book.now
            self._book.write(attrs.evolve(run, stopping=True, seq=run.seq + 1))
        if self.ctx.current_reply is not None:
            self._stop_replies.append(self.ctx.current_reply)
        return DEFER

    async def _answer_stops(self) -> None:
        """Answers those who asked for a stop once the run has ended, or while a disk keeps it from ending."""
        conductor = self._conductor
        while True:
            await self._book.until(lambda: self._stop_replies and (conductor.over or conductor.unstopped))
            replies, self._stop_replies = self._stop_replies, []
            for reply in replies:
                if conductor.unstopped is not None and not conductor.over:
                    reply.fail(conductor.unstopped)
                else:
                    reply.answer(told(self._book.now))
