"""Session control: run, handoff, pause, reply, stop, diff, cost.

Owns: the bodies these take and the shapes they answer.
Must not: decide whether a session may start, or anything else about one.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from hub.domain.jsonvalue import JsonObject
from hub.domain.session import OnLimit
from hub.errors import Code, HubError
from hub.io import git
from hub.messages import (
    GetCost,
    GetSessionFacts,
    RequestHandoff,
    RequestPause,
    RequestReply,
    RequestStop,
    StartRun,
    StopPipeline,
)
from hub.web.context import BEGIN, Context, call
from hub.web.route import NoQuery, get, post
from hub.web.schema import MAX_SAFE_INTEGER, Answer, Body, Done, Name, Nothing
from supervisors import ActorDied

MAX_TASK = 100_000
MAX_REPLY = 100_000
MAX_COMMANDS = 64
MAX_COMMAND = 10_000

Command = Annotated[str, Meta(min_length=1, max_length=MAX_COMMAND)]
Threshold = Annotated[
    float, Meta(gt=0, le=1, description="Fraction of the quota used at which the forecast may hand off.")
]


Trust = Annotated[
    str,
    Meta(
        pattern="^([0-9a-f]{64})?$",
        description="The `digest` of a `trust_needed`: the user agrees for this time to what was named there.",
    ),
]


class Run(Body, frozen=True, kw_only=True):
    """A session to start. What is left out is as `hub.toml` says, else as built in."""

    task: Annotated[str, Meta(min_length=1, max_length=MAX_TASK)]
    threshold: Threshold | UnsetType = UNSET
    max_handoffs: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)] | UnsetType = UNSET
    provider: Name = ""
    profile: Name = ""
    kind: Annotated[
        str,
        Meta(max_length=200, description="Where no profile is named: the first one for this kind of task."),
    ] = ""
    verify: Annotated[list[Command], Meta(max_length=MAX_COMMANDS)] | None = None
    on_limit: OnLimit | UnsetType = UNSET
    trust: Trust = ""


class Started(Done, frozen=True, kw_only=True):
    """The session that was started."""

    session_id: str
    task_id: str
    branch: str
    worktree: str


class Pause(Body, frozen=True, kw_only=True):
    """Whether the agent is to stand still."""

    pause: bool


class TextReply(Body, frozen=True, kw_only=True):
    """The user's answer to the agent."""

    reply: Annotated[str, Meta(min_length=1, max_length=MAX_REPLY)]


class Diff(Answer, frozen=True, kw_only=True):
    """The session branch against the main branch."""

    summary: str
    diff: str


class Cost(Answer, frozen=True, kw_only=True):
    """What the session has cost."""

    session_usd: Annotated[
        float | None,
        Meta(
            description="What is known of it. With `priced` false it is more; null: nothing of it has a price."
        ),
    ]
    tokens_in: Annotated[int, Meta(description="All of them, read from and written to a cache included.")]
    tokens_out: int
    provider: str
    cached_in: int
    cache_write_in: int
    priced: Annotated[bool, Meta(description="Whether every token has a price.")]
    sources: Annotated[
        list[Literal["agent", "prices"]],
        Meta(description="Where the figure comes from: the agent's own, a list of prices."),
    ]
    unpriced_models: Annotated[
        list[str], Meta(description="Models on no list; empty text: one nobody named.")
    ]


_STOP_TIMEOUT = 300.0


async def run(context: Context, body: Run) -> JsonObject:
    """What is left out is as configured."""
    await context.insist(body.trust)
    order = StartRun(
        task=body.task,
        threshold=None if body.threshold is UNSET else body.threshold,
        max_handoffs=None if body.max_handoffs is UNSET else body.max_handoffs,
        provider=body.provider,
        profile=body.profile,
        kind=body.kind,
        verify=None if body.verify is None else tuple(body.verify),
        on_limit=None if body.on_limit is UNSET else body.on_limit.value,
    )
    return await context.call(order, timeout=BEGIN)


async def stop(context: Context, _: Nothing) -> JsonObject:
    """And with it the pipeline run it may be a node of; a run that is just restarting hears of it from its session."""
    with contextlib.suppress(ActorDied):
        run = await context.call(StopPipeline(), timeout=_STOP_TIMEOUT)
        if run:
            return {"runId": run["runId"], "state": run["state"]}
    return await context.call(RequestStop(), timeout=_STOP_TIMEOUT)


async def diff(context: Context, _: NoQuery) -> JsonObject:
    """With what is in no snapshot yet while it works."""
    facts = await context.call(GetSessionFacts())
    if not facts["sessionId"]:
        raise HubError(Code.NO_ACTIVE_SESSION)
    main = facts["mainBranch"] or facts["base"]
    worktree = Path(facts["worktree"]) if facts["active"] and facts["begun"] else None
    try:
        return {**await git.session_diff(context.places.root, main, facts["branch"], worktree)}
    except HubError as error:
        if error.code is not Code.BRANCH_MISSING or facts["begun"]:
            raise
        return {"summary": "", "diff": ""}  # its branch is still being made, or it ended before it was


_ACTIVE = frozenset({Code.NO_ACTIVE_SESSION})
_CHANGING = frozenset({Code.HANDOFF_IN_PROGRESS})
_STARTING = frozenset(
    {
        Code.TRUST_NEEDED,
        Code.SESSION_ALREADY_RUNNING,
        Code.NO_FALLBACK,
        Code.AGENT_MISSING,
        Code.AUTH_NEEDED,
        Code.NOT_A_REPOSITORY,
        Code.NO_COMMIT,
        Code.NOT_FOUND,
    }
)

ROUTES = (
    post("/api/run", "Start a session.", run, body=Run, answer=Started, status=202, codes=_STARTING),
    post(
        "/api/handoff",
        "Hand the work over now.",
        call(RequestHandoff),
        answer=Done,
        codes=_ACTIVE | {Code.HANDOFF_IN_PROGRESS, Code.NO_FALLBACK},
    ),
    post(
        "/api/session/pause",
        "Hold the agent at the next event, or let it go on.",
        call(lambda body: RequestPause(body.pause)),
        body=Pause,
        answer=Done,
        codes=_ACTIVE | {Code.HANDOFF_IN_PROGRESS},
    ),
    post(
        "/api/session/reply",
        "Answer the agent.",
        call(lambda body: RequestReply(body.reply)),
        body=TextReply,
        answer=Done,
        codes=_ACTIVE | _CHANGING | {Code.REPLY_UNSUPPORTED},
    ),
    post(
        "/api/session/stop",
        "End the session in order, snapshot included.",
        stop,
        answer=Done,
        codes=_ACTIVE,
    ),
    get(
        "/api/session/diff",
        "What the session has changed.",
        diff,
        answer=Diff,
        codes=_ACTIVE | {Code.BRANCH_MISSING},
        foreign=True,
    ),
    get("/api/session/cost", "What the session has cost.", call(GetCost), answer=Cost, codes=_ACTIVE),
)
