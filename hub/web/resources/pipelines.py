"""Pipelines: their list, and the run that goes on.

Owns: the routes, and what is done besides one call.
Must not: judge a graph, or know what a run does next.
"""

from __future__ import annotations

import trio

from hub.api.base import Nothing
from hub.api.convert import unstructure
from hub.api.pipelines import Pipeline, Pipelines, RunOrder, RunStarted, RunStatus, Stored
from hub.api.tables import read_pipelines
from hub.errors import Code, HubError
from hub.messages.pipelines import GetPipelineRun, GetPipelines, ReplacePipelines, RunPipeline
from hub.web.context import BEGIN, Context, call
from hub.web.route import get, post


async def replace(context: Context, body: list[Pipeline]) -> Stored:
    """The graphs are read in a thread: there may be thousands of nodes."""
    order = ReplacePipelines(
        await trio.to_thread.run_sync(read_pipelines, [unstructure(pipeline) for pipeline in body])
    )
    return Stored(pipelines=await context.call(order))


async def run(context: Context, body: RunOrder) -> RunStarted:
    """It begins with a commit of the user's uncommitted work."""
    await context.insist(body.trust)
    return await context.call(RunPipeline(body.name, body.resume), timeout=BEGIN)


async def status(context: Context, _: Nothing) -> RunStatus:
    """There may have been none."""
    found = await context.call(GetPipelineRun())
    if found is None:
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
        given=Pipelines,
        codes=frozenset({Code.CONFIG_INVALID}),
    ),
    get(
        "/api/pipelines/run",
        "The pipeline run that goes on, or the last one.",
        status,
        codes=frozenset({Code.NOT_FOUND}),
    ),
    post(
        "/api/pipelines/run",
        "Run a pipeline: its nodes in dependency order, one session at a time.",
        run,
        status=202,
        codes=_STARTING,
    ),
)
