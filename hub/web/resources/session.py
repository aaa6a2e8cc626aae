"""Session control: run, handoff, pause, reply, stop, diff, cost.

Owns: the bodies these take and the shapes they answer.
Must not: decide whether a session may start, or anything else about one.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from hub.domain.jsonvalue import JsonObject
from hub.domain.session import OnLimit
from hub.errors import Code
from hub.web.backend import Backend, RunRequest
from hub.web.route import NoQuery, get, post
from hub.web.schema import MAX_SAFE_INTEGER, Answer, Body, Done, Name, Nothing

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


def _done(changed: JsonObject) -> JsonObject:
    return {"ok": True, **changed}


async def run(backend: Backend, body: Run) -> JsonObject:
    """Start a session."""
    verify = None if body.verify is None else tuple(body.verify)
    request = RunRequest(
        task=body.task,
        threshold=None if body.threshold is UNSET else body.threshold,
        max_handoffs=None if body.max_handoffs is UNSET else body.max_handoffs,
        provider=body.provider,
        profile=body.profile,
        kind=body.kind,
        verify=verify,
        on_limit=None if body.on_limit is UNSET else body.on_limit.value,
        trust=body.trust,
    )
    return _done(await backend.run(request))


async def handoff(backend: Backend, _: Nothing) -> JsonObject:
    """Hand the work over now."""
    return _done(await backend.handoff())


async def pause(backend: Backend, body: Pause) -> JsonObject:
    """Hold the agent at the next event, or let it go on."""
    return _done(await backend.pause(pause=body.pause))


async def reply(backend: Backend, body: TextReply) -> JsonObject:
    """Answer the agent."""
    return _done(await backend.reply(body.reply))


async def stop(backend: Backend, _: Nothing) -> JsonObject:
    """End the session in order, snapshot included."""
    return _done(await backend.stop())


async def diff(backend: Backend, _: NoQuery) -> JsonObject:
    """What the session has changed."""
    return await backend.session_diff()


async def cost(backend: Backend, _: NoQuery) -> JsonObject:
    """What the session has cost."""
    return await backend.session_cost()


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
    post("/api/run", run, body=Run, answer=Started, status=202, codes=_STARTING),
    post("/api/handoff", handoff, answer=Done, codes=_ACTIVE | {Code.HANDOFF_IN_PROGRESS, Code.NO_FALLBACK}),
    post("/api/session/pause", pause, body=Pause, answer=Done, codes=_ACTIVE | {Code.HANDOFF_IN_PROGRESS}),
    post(
        "/api/session/reply",
        reply,
        body=TextReply,
        answer=Done,
        codes=_ACTIVE | _CHANGING | {Code.REPLY_UNSUPPORTED},
    ),
    post("/api/session/stop", stop, answer=Done, codes=_ACTIVE),
    get("/api/session/diff", diff, answer=Diff, codes=_ACTIVE | {Code.BRANCH_MISSING}, foreign=True),
    get("/api/session/cost", cost, answer=Cost, codes=_ACTIVE),
)
