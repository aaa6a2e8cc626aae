"""Pipelines: their list, and the run that goes on.

Owns: the bodies these take and the shapes they answer.
Must not: judge a graph, or know what a run does next.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import trio
from msgspec import Meta

from hub.domain.jsonvalue import JsonObject
from hub.domain.pipeline.graph import read
from hub.domain.pipeline.run import How, NodeState, RunState
from hub.errors import Code, HubError
from hub.messages import GetPipelineRun, GetPipelines, ReplacePipelines, RunPipeline
from hub.web.context import BEGIN, Context, call
from hub.web.resources.session import MAX_COMMANDS, MAX_TASK, Command, Trust
from hub.web.route import NoQuery, get, post
from hub.web.schema import Answer, Body, Done, Timestamp

MAX_PIPELINES = 200
MAX_NAMES = 200

Label = Annotated[str, Meta(min_length=1, max_length=64, description="Printable, no space at an end.")]
Labels = Annotated[list[Label], Meta(max_length=MAX_NAMES)]


class Node(Body, frozen=True, kw_only=True):
    """One task of a pipeline: a whole session of its own."""

    id: Label
    provider: Label
    task: Annotated[str, Meta(min_length=1, max_length=MAX_TASK)]
    depends_on: Labels = msgspec.field(default_factory=list)
    fallback: Labels = msgspec.field(default_factory=list)
    verify: Annotated[list[Command], Meta(max_length=MAX_COMMANDS)] = msgspec.field(default_factory=list)


class Pipeline(Body, frozen=True, kw_only=True):
    """A named graph of tasks."""

    name: Label
    nodes: Annotated[list[Node], Meta(max_length=MAX_NAMES)]


Pipelines = Annotated[list[Pipeline], Meta(max_length=MAX_PIPELINES)]


class RunOrder(Body, frozen=True, kw_only=True):
    """Which pipeline to run."""

    name: Label
    resume: Annotated[
        bool, Meta(description="Take over what the pipeline's last run completed; only the rest runs.")
    ] = False
    trust: Trust = ""


class NodeError(Answer, frozen=True, kw_only=True):
    """Why a node failed."""

    code: Code
    detail: str
    hint: str


class NodeStatus(Answer, frozen=True, kw_only=True):
    """One node of a run."""

    id: str
    state: NodeState
    how: How
    provider: str
    depends_on: list[str]
    session_id: str
    branch: str
    base: str
    snapshot: str
    handoffs: int
    verified: bool | None
    error: NodeError | None
    started_at: Timestamp | None
    ended_at: Timestamp | None


class RunStatus(Answer, frozen=True, kw_only=True):
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


class Stored(Done, frozen=True, kw_only=True):
    """The list as it is from here on."""

    pipelines: list[Pipeline]


class RunStarted(RunStatus, frozen=True, kw_only=True):
    """The run that was started."""

    ok: bool


async def replace(context: Context, body: list[Pipeline]) -> JsonObject:
    """The graphs are read in a thread: there may be thousands of nodes."""
    order = ReplacePipelines(await trio.to_thread.run_sync(read, [plain(pipeline) for pipeline in body]))
    return {"pipelines": await context.call(order)}


def plain(pipeline: Pipeline) -> JsonObject:
    """A pipeline as plain JSON values."""
    return {
        "name": pipeline.name,
        "nodes": [
            {
                "id": node.id,
                "provider": node.provider,
                "task": node.task,
                "dependsOn": node.depends_on,
                "fallback": node.fallback,
                "verify": node.verify,
            }
            for node in pipeline.nodes
        ],
    }


async def run(context: Context, body: RunOrder) -> JsonObject:
    """It begins with a commit of the user's uncommitted work."""
    await context.insist(body.trust)
    return await context.call(RunPipeline(body.name, body.resume), timeout=BEGIN)


async def status(context: Context, _: NoQuery) -> JsonObject:
    """There may have been none."""
    found = await context.call(GetPipelineRun())
    if not found:
        raise HubError(Code.NOT_FOUND, "No pipeline has run yet.", hint="Run one: hub pipeline run <name>")
    return found


_STARTING = frozenset(
    {
        Code.TRUST_NEEDED,
        Code.SESSION_ALREADY_RUNNING,
        Code.NOT_FOUND,
        Code.NO_COMMIT,
        Code.NOT_A_REPOSITORY,
        Code.STATE_CORRUPT,
        Code.NOT_SEALED,
    }
)

ROUTES = (
    get(
        "/api/pipelines",
        "The pipelines: those of `hub.toml`, then the stored ones.",
        call(GetPipelines),
        answer=list[Pipeline],
        codes=frozenset({Code.STATE_CORRUPT, Code.NOT_SEALED}),
    ),
    post(
        "/api/pipelines",
        "Replace the stored pipelines by these.",
        replace,
        body=Pipelines,
        answer=Stored,
        codes=frozenset({Code.CONFIG_INVALID}),
    ),
    get(
        "/api/pipelines/run",
        "The pipeline run that goes on, or the last one.",
        status,
        answer=RunStatus,
        codes=frozenset({Code.NOT_FOUND}),
    ),
    post(
        "/api/pipelines/run",
        "Run a pipeline: its nodes in dependency order, one session at a time.",
        run,
        body=RunOrder,
        answer=RunStarted,
        status=202,
        codes=_STARTING,
    ),
)
