"""One run of a pipeline: its durable record and the moves of its nodes.

Owns: `PipelineRun`, what may run next, what a failure or a stop leads to, and what a later run takes
over from an earlier one.
Must not: start a session, or read or write the file.

    pending -> starting -> running -> completed | failed | stopped
    pending -> failed                 (its bases cannot be merged, its session cannot start)
    pending -> halted                 (what it depends on did not complete, or the run was stopped)

`starting` is the intent: the node's session has its id, which is on record before anybody is asked to start it, so
that asking twice starts it once. `how` says in the end what became of each node: `executed` in this run, `replayed`
(its result was on record and was taken; nothing ran again) or `halted`.
"""

from __future__ import annotations

from typing import Any

import attrs

from hub.domain.config.model import PipelineNode, PipelineSettings
from hub.domain.failure import ErrorNote
from hub.domain.pipeline.graph import order
from hub.domain.pipeline.state import NodeOutcome, NodeState, RunState


@attrs.frozen(kw_only=True)
class NodeRun:
    """One node of a run."""

    id: str
    state: NodeState = NodeState.PENDING
    how: NodeOutcome = NodeOutcome.OPEN
    session_id: str = ""
    branch: str = ""
    base: str = ""
    """The commit its branch began at."""
    provider: str = ""
    """Who worked on it last."""
    handoffs: int = 0
    verified: bool | None = None
    """None until the verifier has spoken."""
    snapshot: str = ""
    """The commit that holds its work: the base of what depends on it."""
    error: ErrorNote | None = None
    started_at: str = ""
    ended_at: str = ""


@attrs.frozen(kw_only=True)
class PipelineRun:
    """Everything hub must know of a run after its own death. Each write is a new value, `seq` one up."""

    run_id: str
    pipeline: PipelineSettings
    """As it was at the start: a list that is replaced meanwhile changes no run."""
    nodes: tuple[NodeRun, ...]
    """In the pipeline's order."""
    state: RunState = RunState.RUNNING
    seq: int = 1
    head: str = ""
    """The user's commit at the start."""
    base: str = ""
    """What nodes without dependencies begin at: `head`, with the user's uncommitted work on top."""
    stopping: bool = False
    started_at: str = ""
    ended_at: str = ""
    resumed: int = 0
    """How often a restart took the run up again."""

    @property
    def active(self) -> bool:
        """Whether the run holds the daemon's one place."""
        return self.state is RunState.RUNNING

    def node(self, node_id: str) -> NodeRun:
        """What is on record of a node."""
        return next(node for node in self.nodes if node.id == node_id)

    def definition(self, node_id: str) -> PipelineNode:
        """What the node is to do."""
        return next(node for node in self.pipeline.nodes if node.id == node_id)

    def changed(self, node_id: str, **changes: Any) -> PipelineRun:
        """The run with one node changed, `seq` one up."""
        nodes = tuple(attrs.evolve(n, **changes) if n.id == node_id else n for n in self.nodes)
        return attrs.evolve(self, nodes=nodes, seq=self.seq + 1)


def begin(
    run_id: str, pipeline: PipelineSettings, at: str, earlier: PipelineRun | None = None
) -> PipelineRun:
    """A run's first record. With an earlier run of the pipeline, what that completed is taken over.

    Taken over is a completed node whose definition is the same and whose dependencies are all taken over; the
    others run. Then the run goes on from the earlier one's base, so that all its branches have one root.
    """
    kept: dict[str, NodeRun] = {}
    if earlier is not None:
        before = {node.id: node for node in earlier.pipeline.nodes}
        for node in ordered(pipeline):
            old = next((n for n in earlier.nodes if n.id == node.id), None)
            same = before.get(node.id) == node and set(node.depends_on) <= set(kept)
            if old is not None and same and old.state is NodeState.COMPLETED:
                kept[node.id] = attrs.evolve(old, how=NodeOutcome.REPLAYED)
    return PipelineRun(
        run_id=run_id,
        pipeline=pipeline,
        nodes=tuple(kept.get(node.id) or NodeRun(id=node.id) for node in pipeline.nodes),
        head=earlier.head if earlier is not None and kept else "",
        base=earlier.base if earlier is not None and kept else "",
        started_at=at,
    )


def ordered(pipeline: PipelineSettings) -> list[PipelineNode]:
    """The nodes in the order in which they run."""
    return [node for name in order(pipeline.nodes) for node in pipeline.nodes if node.id == name]


def taken_up(run: PipelineRun) -> PipelineRun:
    """The run after a restart: what is complete was not run again, and says so."""
    nodes = tuple(
        attrs.evolve(node, how=NodeOutcome.REPLAYED) if node.state is NodeState.COMPLETED else node
        for node in run.nodes
    )
    return attrs.evolve(run, nodes=nodes, seq=run.seq + 1, resumed=run.resumed + 1)


def under_way(run: PipelineRun) -> list[NodeRun]:
    """The nodes whose sessions were asked for and have not ended."""
    return [node for node in run.nodes if node.state in (NodeState.STARTING, NodeState.RUNNING)]


def next_node(run: PipelineRun) -> PipelineNode | None:
    """The first node, in order, that waits for nothing; None when none can start."""
    done = {node.id for node in run.nodes if node.state is NodeState.COMPLETED}
    for node in ordered(run.pipeline):
        if run.node(node.id).state is NodeState.PENDING and set(node.depends_on) <= done:
            return node
    return None


def halted(run: PipelineRun) -> PipelineRun:
    """The run with every node halted that can never start; the same value when there is none."""
    for node in ordered(run.pipeline):
        before = [run.node(name).state for name in node.depends_on]
        lost = any(state.ended and state is not NodeState.COMPLETED for state in before)
        if run.node(node.id).state is NodeState.PENDING and (run.stopping or lost):
            run = run.changed(node.id, state=NodeState.HALTED, how=NodeOutcome.HALTED)
    return run


def finished(run: PipelineRun, at: str) -> PipelineRun:
    """The run's end, once no node can start and none is under way."""
    states = {node.state for node in run.nodes}
    state = RunState.COMPLETED
    if NodeState.FAILED in states:
        state = RunState.FAILED
    if run.stopping or NodeState.STOPPED in states:
        state = RunState.STOPPED
    if states <= {NodeState.COMPLETED}:
        state = RunState.COMPLETED
    return attrs.evolve(run, state=state, ended_at=at, seq=run.seq + 1)


def bases(run: PipelineRun, node: PipelineNode) -> list[str]:
    """The commits a node's branch is to hold: its dependencies' work, else the run's base."""
    return [run.node(name).snapshot for name in dict.fromkeys(node.depends_on)] or [run.base]


def in_words(run: PipelineRun) -> str:
    """`2 executed, 1 replayed, 1 failed, 1 halted`: every node once, by how it ended where it did not complete."""
    ends = [str(node.how if node.state is NodeState.COMPLETED else node.state) for node in run.nodes]
    counts = ((how, ends.count(how)) for how in ("executed", "replayed", "failed", "stopped", "halted"))
    return ", ".join(f"{count} {how}" for how, count in counts if count) or "nothing run"
