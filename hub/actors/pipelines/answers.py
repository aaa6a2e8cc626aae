"""Pipelines and their runs as the API tells them.

Owns: what of a run is shown, and what stands for a node that nobody has worked on.
Must not: decide what runs next.
Tests: tests/hub/actors/pipelines/test_pipelines.py
"""

from __future__ import annotations

from collections.abc import Iterable

from hub.api import pipelines as api
from hub.api.convert import structure, unstructure
from hub.api.pipelines import NodeStatus, RunStatus
from hub.domain.config.model import PipelineSettings
from hub.domain.pipeline.run import NodeRun, PipelineRun


def shown(pipelines: Iterable[PipelineSettings]) -> list[api.Pipeline]:
    """The list, in its order."""
    return [structure(unstructure(pipeline), api.Pipeline) for pipeline in pipelines]


def run_status(run: PipelineRun) -> RunStatus:
    """A run with every node."""
    return RunStatus(
        run_id=run.run_id,
        name=run.pipeline.name,
        state=run.state,
        head=run.head,
        base=run.base,
        stopping=run.stopping,
        resumed=run.resumed,
        started_at=run.started_at or None,
        ended_at=run.ended_at or None,
        nodes=[_node(run, node) for node in run.nodes],
    )


def _node(run: PipelineRun, node: NodeRun) -> NodeStatus:
    return NodeStatus(
        id=node.id,
        state=node.state,
        how=node.how,
        provider=node.provider or run.definition(node.id).provider,
        depends_on=list(run.definition(node.id).depends_on),
        session_id=node.session_id,
        branch=node.branch,
        base=node.base,
        snapshot=node.snapshot,
        handoffs=node.handoffs,
        verified=node.verified,
        error=node.error,
        started_at=node.started_at or None,
        ended_at=node.ended_at or None,
    )
