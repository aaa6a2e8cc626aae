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
from supervisors import Call


@attrs.frozen
class StartRun(Call[JsonObject]):
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


@attrs.frozen
class WhoBegins(Call[Target | None]):
    """Who would begin if this order were given now: answers its `Target`, None where the session would wait first.

    Refused as the order itself would be, and nothing has begun.
    """

    order: StartRun
    by_hand: bool = False
    """Whether it would work in a terminal: what it may do there its user says, and no rule has to hold it."""


@attrs.frozen
class RequestHandoff(Call[JsonObject]):
    """Hand over now; ends a wait."""


@attrs.frozen
class RequestPause(Call[JsonObject]):
    """Stop or continue the agent's process group at the next event boundary."""

    pause: bool


@attrs.frozen
class RequestReply(Call[JsonObject]):
    """Give the agent a user's answer."""

    text: str


@attrs.frozen
class RequestStop(Call[JsonObject]):
    """End the session in order, snapshot included. Answers when it has ended."""

    reason: str = "user"


@attrs.frozen
class SessionEnd(Call["Ended"]):
    """Answers once the session of that id has ended and its end is told; see `Ended`.

    Answers `not_found` when another session, or none, is on record.
    """

    session_id: str


@attrs.frozen
class Ended:
    """How a session ended."""

    state: SessionState
    provider: str
    handoffs: int
    verified: bool | None
    snapshot: str
    error: ErrorNote | None


@attrs.frozen
class ReleaseRun(Call[None]):
    """The pipeline run is over: other sessions may start."""

    run_id: str


@attrs.frozen
class Detach:
    """The daemon goes down and the agent stays: let go of it without stopping it."""


@attrs.frozen
class GetStatus(Call[JsonObject]):
    """Answers what `GET /api/status` serves."""


@attrs.frozen
class GetProviders(Call[JsonArray]):
    """Answers what `GET /api/providers` serves."""


@attrs.frozen
class GetCost(Call[JsonObject]):
    """Answers what `GET /api/session/cost` serves."""


@attrs.frozen
class GetRedactions(Call[JsonObject]):
    """Answers what `GET /api/redactions` serves."""


@attrs.frozen
class GetContract(Call[JsonObject]):
    """Answers the current contract as JSON, verified; `not_found` where there is none, `contract_invalid` of a false one."""


@attrs.frozen
class GetSessionFacts(Call[JsonObject]):
    """Answers `{sessionId, branch, worktree, mainBranch, base, active, accounts}`: what others must know of it."""
