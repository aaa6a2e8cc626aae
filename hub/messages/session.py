"""What the sessions, and each of them, are asked and told.

Every message goes to the register, which passes on what is for one session. `session_id` is its id or a unique prefix of
it; "" = the only one that is active, and for a question also the newest.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.api.observability import Redactions
from hub.api.providers import ProviderStatus
from hub.api.session import Cost, HandingOver, Paused, Replied, Started, Stopped
from hub.api.sessions import Sessions
from hub.api.status import Status
from hub.domain.jsonvalue import JsonObject
from hub.domain.routing import Target
from hub.domain.session import SessionRecord
from hub.messages.agent import AgentBatch
from hub.messages.claims import AccountFreed
from hub.messages.quota import QuotaSeen
from supervisors import Call, Cast


@attrs.frozen
class StartRun(Call[Started]):
    """Start a session. None is "as configured"."""

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
    task_id: str = ""
    """Given to an order that waits for its turn, with its session's id; "" = its session makes one."""
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
    adopts: str = ""
    """The detected agent whose work it goes on with, by its id."""
    native_id: str = ""
    """A session of the first agent's own that goes on instead."""
    continues: str = ""
    """A session that has ended, by its id or the beginning of it: the new one begins with its work and its contract."""
    queue: bool = False
    """Whether it may wait for its turn while there is no place for it; the answer then has its `position`."""


@attrs.frozen
class WhoBegins(Call[Target | None]):
    """Who would begin if this order were given now: answers its `Target`, None where the session would wait first.

    Refused as the order itself would be, and nothing has begun.
    """

    order: StartRun
    by_hand: bool = False
    """Whether it would work in a terminal: what it may do there its user says, and no rule has to hold it."""
    ends: bool = False
    """Whether another agent is ended for it: not for one whose login is missing, unless the chain names it."""


@attrs.frozen
class RequestHandoff(Call[HandingOver]):
    """Hand over now; ends a wait."""

    session_id: str = ""


@attrs.frozen
class RequestPause(Call[Paused]):
    """Stop or continue the agent's process group at the next event boundary."""

    pause: bool
    session_id: str = ""


@attrs.frozen
class RequestReply(Call[Replied]):
    """Give the agent a user's answer."""

    text: str
    session_id: str = ""


@attrs.frozen
class RequestStop(Call[Stopped]):
    """End the session in order, snapshot included. Answers when it has ended. One that waits for its turn never begins."""

    reason: str = "user"
    session_id: str = ""


@attrs.frozen
class StopAll(Call[None]):
    """End every session in order, side by side; those that wait for their turn wait on. Answers when all have ended."""

    reason: str


@attrs.frozen
class SessionEnd(Call[SessionRecord]):
    """Answers the record of the session of that id, once it has ended and its end is told.

    Answers `not_found` when another session, or none, is on record.
    """

    session_id: str


@attrs.frozen
class ReleaseRun(Call[None]):
    """The pipeline run is over: other sessions may start."""

    run_id: str


@attrs.frozen
class Detach(Cast):
    """The daemon goes down and the agents stay: let go of them without stopping them."""


@attrs.frozen
class GetStatus(Call[Status]):
    """How a session is; the size of the graph is not in it."""

    session_id: str = ""


@attrs.frozen
class GetProviders(Call[list[ProviderStatus]]):
    """How every provider is at this moment."""


@attrs.frozen
class GetCost(Call[Cost]):
    """What a session has cost."""

    session_id: str = ""


@attrs.frozen
class GetRedactions(Call[Redactions]):
    """How many secrets were hidden in a session."""

    session_id: str = ""


@attrs.frozen
class GetContract(Call[JsonObject]):
    """Answers the current contract, verified, as it was signed: the JSON of a `Contract`, with the members that it has.

    `not_found` where there is none, `contract_invalid` of a false one.
    """

    session_id: str = ""


@attrs.frozen
class FollowUp:
    """What a session begins with that goes on where another one ended."""

    base: str
    first: str


@attrs.frozen
class DraftFollowUp(Call[FollowUp]):
    """Write the contract by which a new session goes on with the work of this one, which has ended."""

    session_id: str
    new_id: str
    task: str
    verify: Sequence[str]


@attrs.frozen
class SessionFacts:
    """What others must know of a session."""

    record: SessionRecord = attrs.field(factory=SessionRecord)
    """With its task as everyone may see it."""
    closed: bool = True
    """Whether it has ended and its end is told."""
    working: Target | None = None
    """Whose agent is up at this moment."""

    @property
    def session_id(self) -> str:
        """Its id; "" = there is none."""
        return self.record.session_id

    @property
    def active(self) -> bool:
        """Whether it takes a place."""
        return self.record.session_state.active


@attrs.frozen
class GetSessionFacts(Call[SessionFacts]):
    """Answers the facts of one session; those of an idle one where there is none."""

    session_id: str = ""


@attrs.frozen
class GetSessions(Call[Sessions]):
    """Answers what `GET /api/sessions` serves."""


@attrs.frozen
class GetInUse(Call[Sequence[SessionFacts]]):
    """Answers the facts of every session that is active."""


SessionQuestion = GetContract | GetCost | GetRedactions | GetSessionFacts | GetStatus
SessionOrder = RequestHandoff | RequestPause | RequestReply | RequestStop
SessionNews = AccountFreed | Detach | QuotaSeen
OfOneSession = SessionQuestion | SessionOrder | SessionNews | ReleaseRun | SessionEnd
"""What the register passes on."""
SessionInbox = OfOneSession | AgentBatch | DraftFollowUp
SessionsInbox = OfOneSession | GetInUse | GetProviders | GetSessions | StartRun | StopAll | WhoBegins
