"""Session control: run, handoff, pause, reply, stop, diff, cost.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.base import Done
from hub.api.meta import MAX_SAFE_INTEGER, UNSET, Meta, Name, Trust, Unset
from hub.domain.session import OnLimit

MAX_TASK = 100_000
MAX_REPLY = 100_000
MAX_COMMANDS = 64
MAX_COMMAND = 10_000
Task = Annotated[
    str, Meta(min_length=1, max_length=MAX_TASK, pattern=r"\S", description="Not of blanks alone.")
]
Command = Annotated[
    str, Meta(min_length=1, max_length=MAX_COMMAND, pattern=r"\S", description="Not of blanks alone.")
]
Threshold = Annotated[
    float, Meta(gt=0, le=1, description="Fraction of the quota used at which the forecast may hand off.")
]


SessionId = Annotated[
    str,
    Meta(
        pattern="^[a-z0-9-]{0,64}$",
        description="The session's id, or the beginning of it. Left out: the only one that is active.",
    ),
]


@attrs.frozen(kw_only=True)
class Which:
    """Which session is meant."""

    session_id: SessionId = ""


@attrs.frozen(kw_only=True)
class Run:
    """A session to start. What is left out is as `hub.toml` says, else as built in."""

    task: Task
    threshold: Threshold | Unset = UNSET
    max_handoffs: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)] | Unset = UNSET
    provider: Name = ""
    profile: Name = ""
    kind: Annotated[
        str,
        Meta(max_length=200, description="Where no profile is named: the first one for this kind of task."),
    ] = ""
    verify: Annotated[list[Command], Meta(max_length=MAX_COMMANDS)] | None = None
    on_limit: OnLimit | Unset = UNSET
    trust: Trust = ""
    continues: Annotated[
        str,
        Meta(
            pattern="^[a-z0-9-]{0,64}$",
            description="A session that has ended, by its id or the beginning of it: this one begins with its work, "
            "and with a contract made of it.",
        ),
    ] = ""
    session_id: Annotated[
        str,
        Meta(
            pattern=r"^([a-z0-9][a-z0-9-]{0,63})?$(?!\n)",
            description="The id it is to have: the same order may then be given again, and begins once.",
        ),
    ] = ""
    queue: Annotated[bool, "Whether it waits for its turn where there is no place for it now."] = False


@attrs.frozen(kw_only=True)
class Started(Done):
    """The session that was started."""

    session_id: str
    task_id: str
    branch: str
    worktree: str
    withheld: Annotated[list[str], "Of the user's changes: paths that hub takes into no branch."]
    position: Annotated[int, "Its place among those that wait for their turn; 0: it has begun."]


@attrs.frozen(kw_only=True)
class Pause:
    """Whether the agent is to stand still."""

    pause: bool
    session_id: SessionId = ""


@attrs.frozen(kw_only=True)
class Paused(Done):
    """Whether the agent stands still."""

    session_id: str
    paused: bool


@attrs.frozen(kw_only=True)
class HandingOver(Done):
    """The handoff that has begun; of a session that waits for a quota none has: it tries to begin anew."""

    session_id: str
    handoff_id: str | Unset = UNSET
    waiting: bool | Unset = UNSET


@attrs.frozen(kw_only=True)
class Replied(Done):
    """Whose agent was answered."""

    session_id: str


@attrs.frozen(kw_only=True)
class Stopped(Done):
    """The session that has ended, or the pipeline run that it was a node of."""

    state: str
    session_id: str | Unset = UNSET
    run_id: str | Unset = UNSET
    begun: Annotated[bool, "False: it waited for its turn, and did nothing."] | Unset = UNSET


@attrs.frozen(kw_only=True)
class TextReply:
    """The user's answer to the agent."""

    reply: Annotated[str, Meta(min_length=1, max_length=MAX_REPLY)]
    session_id: SessionId = ""


@attrs.frozen(kw_only=True)
class Cost:
    """What the session has cost."""

    session_usd: Annotated[
        float | None, "What is known of it. With `priced` false it is more; null: nothing of it has a price."
    ]
    tokens_in: Annotated[int, "All of them, read from and written to a cache included."]
    tokens_out: int
    provider: str
    cached_in: int
    cache_write_in: int
    priced: Annotated[bool, "Whether every token has a price."]
    sources: Annotated[
        list[Literal["agent", "prices"]],
        "Where the figure comes from: the agent's own, a list of prices.",
    ]
    unpriced_models: Annotated[list[str], "Models on no list; empty text: one nobody named."]
