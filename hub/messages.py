"""Every message an actor's inbox takes, and the table of who may send what to whom.

Owns: the message types (values, all frozen) and `EDGES`.
Must not: hold behaviour, references to actors, or anything that is not plain data (a subscription's channel
is the one exception: it is how events reach a client).

Rules:
 1. A message reaches an actor only along a row of `EDGES`.
 2. Blocking rows (calls, and casts that may wait for room) form a directed graph without cycles; a test proves it.
 3. A row that runs against that order never blocks, and says what happens when there is no room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import trio

from hub.domain.event import Event, Record
from hub.domain.failure import Failure
from hub.io.sqlite import NewEvent
from hub.providers.base import Assignment, Exit, Outcome

# --- audit ------------------------------------------------------------------------------------------------


@attrs.frozen
class AuditEntry:
    """One record to append. A `key` seen before is skipped: the sender may repeat itself after a crash."""

    event: str
    data: Mapping[str, Any]
    key: str = ""


@attrs.frozen
class AuditAppend:
    """Append in order, durably. Answers the new head as `{seq, hash}`."""

    entries: Sequence[AuditEntry]


@attrs.frozen
class AuditHead:
    """Answers `{seq, hash, bytes}`."""


@attrs.frozen
class AuditLastEvent:
    """Answers the highest event id that is on the audit log; 0 when there is none."""


@attrs.frozen
class AuditHistory:
    """Answers the newest `limit` history entries, oldest first: `[{seq, ts, event, provider, summary}]`."""

    limit: int = 1000


# --- events -----------------------------------------------------------------------------------------------


@attrs.frozen
class EventAppend:
    """Append in order, durably, then publish. Answers the ids, in order.

    An event of a dispatch with an offset that is in the log already is skipped, so a replay may repeat itself.
    """

    events: Sequence[NewEvent]
    spooled: bool = False
    """A durable spool would bring them back after a power cut: they are published without waiting for the disk."""


@attrs.frozen
class EventsSince:
    """Answers the records with a greater id, oldest first, at most `limit`."""

    since: int
    limit: int = 1000


@attrs.frozen
class EventsOfSession:
    """Answers the records of one session with a greater id, oldest first, at most `limit`."""

    session_id: str
    after: int = 0
    limit: int = 5000


@attrs.frozen
class Subscribe:
    """Answers a `Subscription` that starts after `since`, or live where it is None."""

    since: int | None = None


@attrs.frozen
class Unsubscribe:
    """Ends a subscription."""

    token: int


@attrs.frozen
class Subscription:
    """A live view of the log: lists of records, in order, with no gap and no double.

    The channel ends when the reader is too slow (`lagged` is then set by the log) or the log goes down.
    """

    token: int
    channel: trio.MemoryReceiveChannel[Sequence[Record]]
    lagged: trio.Event


# --- settings ---------------------------------------------------------------------------------------------


@attrs.frozen
class GetConfig:
    """Answers the `Config` in force."""


@attrs.frozen
class ProvidersConfigured:
    """Answers what `GET /api/config/providers` serves."""


# --- breakers ---------------------------------------------------------------------------------------------


@attrs.frozen
class BreakerFailure:
    """A run on this provider and account failed."""

    provider: str
    account: str
    failure: Failure


@attrs.frozen
class BreakerSuccess:
    """A run on this provider and account works."""

    provider: str
    account: str


@attrs.frozen
class Shut:
    """A provider and account that must not be chosen now."""

    until: float
    """Epoch seconds at which it may be tried again."""
    limited: bool
    """Whether its usage limit is reached; else it failed too often."""


@attrs.frozen
class BreakerClosed:
    """Answers `{(provider, account): Shut}`: all that must not be chosen now."""


@attrs.frozen
class BreakerSnapshots:
    """Answers what `GET /api/circuit` serves."""


# --- session ----------------------------------------------------------------------------------------------


@attrs.frozen
class StartRun:
    """Start a session. None is "as configured". Answers `{sessionId, taskId, branch, worktree}`."""

    task: str
    threshold: float | None = None
    max_handoffs: int | None = None
    provider: str = ""
    profile: str = ""
    verify: Sequence[str] | None = None
    on_limit: str | None = None


@attrs.frozen
class RequestHandoff:
    """Hand over now; ends a wait."""


@attrs.frozen
class RequestPause:
    """Stop or continue the agent's process group at the next event boundary."""

    pause: bool


@attrs.frozen
class RequestReply:
    """Give the agent a user's answer."""

    text: str


@attrs.frozen
class RequestStop:
    """End the session in order, snapshot included. Answers when it has ended."""

    reason: str = "user"


@attrs.frozen
class Detach:
    """The daemon goes down and the agent stays: let go of it without stopping it."""


@attrs.frozen
class GetStatus:
    """Answers what `GET /api/status` serves."""


@attrs.frozen
class GetProviders:
    """Answers what `GET /api/providers` serves."""


@attrs.frozen
class GetCost:
    """Answers what `GET /api/session/cost` serves."""


@attrs.frozen
class GetRedactions:
    """Answers what `GET /api/redactions` serves."""


@attrs.frozen
class GetSessionFacts:
    """Answers `{sessionId, branch, worktree, mainBranch, active}`: what the read-only git views need."""


@attrs.frozen
class AgentEvent:
    """One event of the agent with its place in the spool."""

    offset: int
    index: int
    at_ms: int
    event: Event


@attrs.frozen
class AgentBatch:
    """What the agent said since the last batch, already redacted, and where its stream stands."""

    dispatch_id: str
    events: Sequence[AgentEvent]
    tools_in_flight: int = 0
    native_session: str = ""
    alive: bool = False
    outcome: Outcome | None = None
    exit: Exit | None = None
    """Set in the last batch: the process has ended and every line was read."""


# --- adapter ----------------------------------------------------------------------------------------------


@attrs.frozen
class AdapterReply:
    """Pass a user's reply on."""

    text: str
    key: str


@attrs.frozen
class AdapterInterrupt:
    """Use the agent's own interrupt."""

    key: str


@attrs.frozen
class AdapterStop:
    """Stop the agent in order: close its input, then the ladder."""

    reason: str
    hard: bool = False


@attrs.frozen
class AdapterPause:
    """SIGSTOP or SIGCONT for the agent's process group."""

    pause: bool


@attrs.frozen
class Dispatch:
    """What an adapter is started with."""

    assignment: Assignment
    provider: str
    attach: bool
    """False: claim and spawn. True: the runner exists (alive or not): read on from its spool."""


@attrs.frozen
class Edge:
    """A row of the message map."""

    sender: str
    receiver: str
    message: type
    blocking: bool
    overflow: str
    """What happens when the inbox is full: `wait`, `refuse` (the sender is told) or `drop` (it is repeated later)."""


def _edges() -> tuple[Edge, ...]:
    rows: list[Edge] = []

    def blocking(sender: str, receiver: str, *messages: type) -> None:
        rows.extend(Edge(sender, receiver, m, blocking=True, overflow="wait") for m in messages)

    def posting(sender: str, receiver: str, overflow: str, *messages: type) -> None:
        rows.extend(Edge(sender, receiver, m, blocking=False, overflow=overflow) for m in messages)

    session_views = (GetStatus, GetProviders, GetCost, GetRedactions, GetSessionFacts)
    session_orders = (StartRun, RequestHandoff, RequestPause, RequestReply, RequestStop)
    blocking("front", "session", *session_orders, *session_views)
    blocking("front", "events", EventsSince, Subscribe)
    posting("front", "events", "drop", Unsubscribe)
    blocking("front", "settings", GetConfig, ProvidersConfigured)
    blocking("front", "breakers", BreakerSnapshots)
    blocking("front", "audit", AuditHead, AuditHistory, AuditAppend)
    blocking("adapter", "session", AgentBatch)
    blocking("session", "events", EventAppend, EventsOfSession)
    blocking("session", "audit", AuditAppend, AuditHead)
    blocking("session", "settings", GetConfig)
    blocking("session", "breakers", BreakerClosed, BreakerFailure, BreakerSuccess)
    blocking("breakers", "events", EventAppend)
    blocking("events", "audit", AuditAppend, AuditLastEvent)
    posting("session", "adapter", "refuse", AdapterReply, AdapterInterrupt, AdapterStop, AdapterPause)
    posting("root", "session", "refuse", Detach)
    return tuple(rows)


EDGES: tuple[Edge, ...] = _edges()


def document() -> str:
    """The text of `design/message-map.md`. A test fails when the file differs from it."""
    rows = "\n".join(
        f"| {e.sender} | {e.receiver} | `{e.message.__name__}` | {'yes' if e.blocking else 'no'} | {e.overflow} |"
        for e in EDGES
    )
    return _DOCUMENT.format(rows=rows)


_DOCUMENT = """\
# Who may send what to whom

Drawn from `EDGES` in `hub/messages.py`; do not edit by hand. To write it anew:

    python -c "from hub.messages import document; print(document(), end='')" > design/message-map.md

Blocking rows form a graph without cycles, so no two actors can wait for each other. A row that does not block says
what happens when the receiver's mailbox is full: `refuse` tells the sender, `drop` loses what is repeated later anyway.

| From | To | Message | Waits | When full |
|---|---|---|---|---|
{rows}
"""
