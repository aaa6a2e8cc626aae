"""The durable record of a pipeline run: `.hub/pipeline-run.json`, and what is told about it.

Owns: the order "record, then audit and event", the retelling after a crash, and waking whoever waits for a change.
Must not: decide what comes next, or talk to the session.

What is told carries a key made of the run, the node and its state, and both logs skip a key they have: so a restart
tells everything again, and only what was missing is added.
"""

from __future__ import annotations

from typing import Unpack

import attrs

from hub.actors.common.condition import Condition
from hub.actors.common.outbox import Outbox, known
from hub.actors.common.transient import UNAUDITED
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.domain.pipeline.run import NodeRun, PipelineRun, in_words
from hub.domain.pipeline.state import NodeState
from hub.domain.text.safe import headline
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.records.store import RecordStore

_SILENT = (NodeState.PENDING, NodeState.STARTING)
"""States nobody is told of: nothing has happened yet."""


@attrs.define
class PipelineRunStore(Condition):
    """One owner: the pipelines actor."""

    store: RecordStore[PipelineRun]
    outbox: Outbox
    """Hides secrets; every text passes it that did not come from a session's own record."""
    run: PipelineRun | None = None
    _told: set[str] = attrs.field(factory=set)

    @property
    def now(self) -> PipelineRun:
        """The run; only asked for while there is one."""
        if self.run is None:
            raise HubError(
                Code.NOT_FOUND, "No pipeline has run yet.", hint="Run one: hub pipeline run <name>"
            )
        return self.run

    @property
    def active(self) -> bool:
        """Whether a run goes on."""
        return self.run is not None and self.run.active

    def at(self) -> str:
        """The time, as records have it."""
        return iso(self.outbox.clock())

    def load(self) -> HubError | None:
        """Read the record back; why there is none although there is a file, as `RecordStore.load` has it."""
        self.run, damage = self.store.load()
        return damage

    def write(self, run: PipelineRun, point: str = "run") -> PipelineRun:
        """Keep a new state of the run; durable when this returns.

        Raises:
            HubError: As `RecordStore.save`.
        """
        self.store.save(run, f"pipeline.{point}")
        self.run = run
        self.notify_all()
        return run

    async def publish(self) -> None:
        """Tell both logs what the record says and they do not have yet. Idempotent."""
        run = self.now
        start = f"pipeline {run.pipeline.name} started: {len(run.nodes)} nodes"
        await self._once(run, "started", start, "pipeline_started", nodes=[node.id for node in run.nodes])
        if run.resumed:
            await self._once(run, f"resumed:{run.resumed}", _taken_up(run), "pipeline_resumed")
        for node in run.nodes:
            if node.state not in _SILENT:
                await self._publish_node(run, node)
        if not run.active:
            words = f"pipeline {run.pipeline.name} {run.state}: {in_words(run)}"
            await self._once(run, "ended", words, "pipeline_ended", runEnded=str(run.state))

    async def _publish_node(self, run: PipelineRun, node: NodeRun) -> None:
        replayed = run.resumed == 0 and node.how == "replayed"
        words = f"{run.pipeline.name}: {node.id} {'replayed' if replayed else node.state}{_more(node)}"
        error = node.error if node.state is NodeState.FAILED else None
        meta: EventMeta = {
            "node": node.id,
            "nodeState": str(node.state),
            "how": str(node.how),
            "sessionId": node.session_id,
            "provider": node.provider,
        }
        if node.verified is not None:
            meta["verified"] = node.verified
        if error:
            meta |= {"code": str(error.code), "hint": error.hint}
        tag = Tag.ERROR if error else Tag.SYSTEM
        await self._once(run, f"{node.id}:{node.state}", words, "pipeline_node", tag=tag, **meta)

    async def _once(
        self,
        run: PipelineRun,
        what: str,
        words: str,
        audited: str,
        *,
        tag: Tag = Tag.SYSTEM,
        **meta: Unpack[EventMeta],
    ) -> None:
        # Of the run it is about: while its end is told, the next one may be on record already.
        key = f"pipeline:{run.run_id}:{what}"
        if key in self._told:
            return
        data = known({"runId": run.run_id, "pipeline": run.pipeline.name, **meta})
        try:
            await self.outbox.record(audited, data, key)
        except HubError as error:
            if error.code not in UNAUDITED:  # a session says it too, and starts none without its audit log
                raise
        await self.outbox.publish(tag, words, data, key)
        self._told.add(key)


def _more(node: NodeRun) -> str:
    match node.state:
        case NodeState.RUNNING:
            return f" on {node.branch}"
        case NodeState.COMPLETED:
            return ", verified" if node.verified else ", not verified"
        case NodeState.FAILED if node.error is not None:
            return f": {headline(node.error.detail)}"  # its session has told the rest
        case NodeState.HALTED:
            return ": it does not run"
    return ""


def _taken_up(run: PipelineRun) -> str:
    """What a restart does with each node."""
    words = []
    for node in run.nodes:
        how = str(node.how) or ("goes on" if node.state is not NodeState.PENDING else "is still to run")
        words.append(f"{node.id} {how}")
    return f"pipeline {run.pipeline.name} taken up again: {', '.join(words)}"
