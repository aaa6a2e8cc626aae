"""What the session is asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.domain.jsonvalue import JsonArray, JsonObject
from hub.domain.routing import Target
from hub.domain.session import ErrorNote, SessionState
from hub.domain.value import Value
from supervisors import Call


@attrs.frozen(eq=False, repr=False)
class StartRun(Value, Call[JsonObject]):
    """Start a session. None is "as configured". Answers `{sessionId, taskId, branch, worktree}`."""

    task: str
    threshold: float | None = None
    max_handoffs: int | None = None
    provider: str = ""
    profile: str = ""
    kind: str = ""
    """Where no profile is named: the first one for tasks of this kind."""
    verify: Sequence[str] | None = None
    on_limit: str | None = None
    session_id: str = ""
    """Of the sender's choice, so that it may ask again: the session is started once."""
    run_id: str = ""
    """The pipeline run the session is a node of."""
    role: str = "primary"
    base: str = ""
    """The commit the branch begins at; "" = the user's, with the uncommitted work on top."""
    fallback: Sequence[str] = ()
    """Who takes over from `provider`, in this order; () = the profile's chain, else the configured one."""
    first: str = ""
    """A commit on top of `base` with the work the session goes on with."""
    adopted: bool = False
    """Whether `.hub/adopted/<session_id>.json` has the contract that the first agent is given."""
    native_id: str = ""
    """A session of the first agent's own that goes on instead."""


@attrs.frozen(eq=False, repr=False)
class WhoBegins(Value, Call[Target | None]):
    """Who would begin if this order were given now: answers its `Target`, None where the session would wait first.

    Refused as the order itself would be, and nothing has begun.
    """

    order: StartRun
    by_hand: bool = False
    """Whether it would work in a terminal: what it may do there its user says, and no rule has to hold it."""


@attrs.frozen(eq=False, repr=False)
class RequestHandoff(Value, Call[JsonObject]):
    """Hand over now; ends a wait."""


@attrs.frozen(eq=False, repr=False)
class RequestPause(Value, Call[JsonObject]):
    """Stop or continue the agent's process group at the next event boundary."""

    pause: bool


@attrs.frozen(eq=False, repr=False)
class RequestReply(Value, Call[JsonObject]):
    """Give the agent a user's answer."""

    text: str


@attrs.frozen(eq=False, repr=False)
class RequestStop(Value, Call[JsonObject]):
    """End the session in order, snapshot included. Answers when it has ended."""

    reason: str = "user"


@attrs.frozen(eq=False, repr=False)
class SessionEnd(Value, Call["Ended"]):
    """Answers once the session of that id has ended and its end is told; see `Ended`.

    Answers `not_found` when another session, or none, is on record.
    """

    session_id: str


@attrs.frozen(eq=False, repr=False)
class Ended(Value):
    """How a session ended."""

    state: SessionState
    provider: str
    handoffs: int
    verified: bool | None
    snapshot: str
    error: ErrorNote | None


@attrs.frozen(eq=False, repr=False)
class ReleaseRun(Value, Call[None]):
    """The pipeline run is over: other sessions may start."""

    run_id: str


@attrs.frozen(eq=False, repr=False)
class Detach(Value):
    """The daemon goes down and the agent stays: let go of it without stopping it."""


@attrs.frozen(eq=False, repr=False)
class GetStatus(Value, Call[JsonObject]):
    """Answers what `GET /api/status` serves."""


@attrs.frozen(eq=False, repr=False)
class GetProviders(Value, Call[JsonArray]):
    """Answers what `GET /api/providers` serves."""


@attrs.frozen(eq=False, repr=False)
class GetCost(Value, Call[JsonObject]):
    """Answers what `GET /api/session/cost` serves."""


@attrs.frozen(eq=False, repr=False)
class GetRedactions(Value, Call[JsonObject]):
    """Answers what `GET /api/redactions` serves."""


@attrs.frozen(eq=False, repr=False)
class GetContract(Value, Call[JsonObject]):
    """Answers the current contract as JSON, verified; `not_found` where there is none, `contract_invalid` of a false one."""


@attrs.frozen(eq=False, repr=False)
class GetSessionFacts(Value, Call[JsonObject]):
    """Answers `{sessionId, branch, worktree, mainBranch, base, active, accounts}`: what others must know of it."""
