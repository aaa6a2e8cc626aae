"""Pipelines: their list, and the run that goes on.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.base import Done
from hub.api.meta import Label, Meta, Timestamp, Trust
from hub.api.session import MAX_COMMANDS, Command, Task
from hub.domain.failure import ErrorNote
from hub.domain.pipeline.state import NodeOutcome, NodeState, RunState

MAX_PIPELINES = 200
MAX_NAMES = 200
Labels = Annotated[list[Label], Meta(max_length=MAX_NAMES)]


@attrs.frozen(kw_only=True)
class Node:
    """One task of a pipeline: a whole session of its own."""

    id: Label
    provider: Label
    task: Task
    depends_on: Labels = attrs.field(factory=list)
    fallback: Labels = attrs.field(factory=list)
    verify: Annotated[list[Command], Meta(max_length=MAX_COMMANDS)] = attrs.field(factory=list)


@attrs.frozen(kw_only=True)
class Pipeline:
    """A named graph of tasks."""

    name: Label
    nodes: Annotated[list[Node], Meta(max_length=MAX_NAMES)]


Pipelines = Annotated[list[Pipeline], Meta(max_length=MAX_PIPELINES)]


@attrs.frozen(kw_only=True)
class RunOrder:
    """Which pipeline to run."""

    name: Label
    resume: Annotated[bool, "Take over what the pipeline's last run completed; only the rest runs."] = False
    trust: Trust = ""


@attrs.frozen(kw_only=True)
class NodeStatus:
    """One node of a run."""

    id: str
    state: NodeState
    how: NodeOutcome
    provider: str
    depends_on: list[str]
    session_id: str
    branch: str
    base: str
    snapshot: str
    handoffs: int
    verified: bool | None
    error: ErrorNote | None
    started_at: Timestamp | None
    ended_at: Timestamp | None


@attrs.frozen(kw_only=True)
class RunStatus:
    """The run that goes on, or the last one."""

    run_id: str
    name: str
    state: RunState
    head: str
    base: str
    stopping: bool
    resumed: int
    started_at: Timestamp | None
    ended_at: Timestamp | None
    nodes: list[NodeStatus]


@attrs.frozen(kw_only=True)
class Stored(Done):
    """The list as it is from here on."""

    pipelines: list[Pipeline]


@attrs.frozen(kw_only=True)
class RunStarted(RunStatus):
    """The run that was started."""

    ok: Literal[True] = True
