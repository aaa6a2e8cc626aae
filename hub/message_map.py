"""The table of who may send what to whom, and how much may wait for each.

Owns: `EDGES`, `INBOXES`, and the picture of both in `design/message-map.md`.
Must not: hold behaviour; actors send, this only says what they may.

Rules:
 1. A message reaches an actor only along a row of `EDGES`.
 2. Blocking rows (calls, and casts that may wait for room) form a directed graph without cycles; a test proves it.
 3. A row that runs against that order never blocks, and says what happens when there is no room.
 4. Every actor's inbox has its bound in `INBOXES`. One that a blocking row leads to makes its senders wait.

Tests: tests/hub/test_messages.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Never, TypeVar, get_args

import attrs

from hub import messages as m
from supervisors import MailboxSpec, Overflow, Ref, Slot

M = TypeVar("M")


@attrs.frozen
class Edge:
    """A row of the message map."""

    sender: str
    receiver: str
    message: type
    blocking: bool
    overflow: str
    """What happens when the inbox is full: `wait`, `refuse` (the sender is told) or `drop` (it is repeated later)."""


def _edges() -> tuple[Edge, ...]:  # noqa: PLR0915  # a table, a row a line
    rows: list[Edge] = []

    def blocking(sender: str, receiver: str, *messages: type) -> None:
        rows.extend(Edge(sender, receiver, one, blocking=True, overflow="wait") for one in messages)

    def posting(sender: str, receiver: str, overflow: str, *messages: type) -> None:
        rows.extend(Edge(sender, receiver, one, blocking=False, overflow=overflow) for one in messages)

    blocking("root", "pipelines", m.StopPipeline)
    blocking("root", "sessions", m.StopAll)
    blocking("pipelines", "sessions", m.StartRun, m.SessionEnd, m.ReleaseRun, m.RequestStop)
    blocking("pipelines", "sessions", m.GetSessionFacts, m.GetInUse)
    blocking("pipelines", "events", m.EventAppend)
    blocking("pipelines", "audit", m.AuditAppend)
    blocking("pipelines", "settings", m.GetConfig)
    blocking("front", "sessions", m.StartRun, *get_args(m.SessionOrder), *get_args(m.SessionQuestion))
    blocking("front", "sessions", m.GetProviders, m.GetSessions, m.GetInUse)
    blocking("sessions", "session", *get_args(m.SessionQuestion), *get_args(m.SessionOrder))
    blocking("sessions", "session", m.SessionEnd, m.ReleaseRun, m.DraftFollowUp)
    posting("sessions", "session", "drop", *get_args(m.SessionNews))
    posting("claims", "sessions", "drop", m.AccountFreed)
    blocking("session", "claims", m.AwaitAccounts, m.ClaimAccount, m.ReleaseAccount, m.GetClaims)
    blocking("sessions", "events", m.EventAppend)
    blocking("sessions", "audit", m.AuditAppend)
    blocking("sessions", "breakers", m.BreakerClosed)
    blocking("sessions", "settings", m.GetConfig, m.GetLogins)
    blocking("sessions", "quota", m.GetProspects, m.GetStandings)
    blocking("sessions", "claims", m.GetClaims, m.RetainClaims)
    blocking("front", "events", m.EventsSince, m.Subscribe)
    posting("front", "events", "drop", m.Unsubscribe)
    blocking("front", "settings", m.GetConfig, m.ProvidersConfigured, m.PatchProvider, m.SetKey)
    blocking("front", "settings", m.AddAccount, m.SwitchAccount, m.RemoveAccount, m.InstallAgent, m.LogIn)
    blocking("front", "settings", m.GetProfiles, m.PutProfile, m.RemoveProfile, m.GetVision, m.PatchVision)
    blocking("front", "pipelines", *get_args(m.PipelinesInbox))
    blocking("front", "models", *get_args(m.ModelsInbox))
    blocking("front", "detector", *get_args(m.DetectorInbox))
    blocking("front", "outcomes", m.GetCosts, m.GetOutcomes)
    blocking("front", "knowledge", m.GetGraph, m.GetGraphNodes, m.GetGraphDetail, m.Retrieve, m.IndexCode)
    blocking("models", "settings", m.GetConfig)
    blocking("detector", "settings", m.GetConfig)
    blocking("detector", "events", m.EventAppend, m.EventsSince)
    blocking("detector", "audit", m.AuditAppend)
    blocking("detector", "sessions", m.StartRun, m.WhoBegins, m.GetInUse)
    blocking("detector", "quota", m.SpentElsewhere)
    for reader in ("outcomes", "knowledge", "notices"):
        blocking(reader, "events", m.EventsHead, m.Subscribe)
        posting(reader, "events", "drop", m.Unsubscribe)
    blocking("knowledge", "events", m.EventAppend)
    blocking("notices", "events", m.EventAppend)
    blocking("notices", "settings", m.GetConfig)
    blocking("job", "events", m.EventAppend)
    posting("job", "settings", "drop", m.ProviderChanged)
    blocking("settings", "events", m.EventAppend)
    blocking("settings", "audit", m.AuditAppend)
    blocking("front", "breakers", m.BreakerSnapshots)
    blocking("front", "quota", m.GetWallet)
    blocking("front", "audit", m.GetAuditHead, m.AuditHistory, m.AuditAppend)
    blocking("adapter", "session", m.AgentBatch)
    blocking(
        "session",
        "events",
        m.EventAppend,
        m.EventsHead,
        m.EventsOfDispatch,
        m.EventsOnRecord,
        m.EventsSince,
    )
    blocking("session", "knowledge", m.DrawIntent)
    blocking("session", "audit", m.AuditAppend, m.GetAuditHead, m.AuditIntact)
    blocking("session", "settings", m.GetConfig, m.GetLogins)
    blocking("session", "breakers", m.BreakerAttempt, m.BreakerClosed, m.BreakerFailure)
    blocking("session", "breakers", m.BreakerSuccess, m.BreakerWithdrawn)
    blocking("session", "quota", m.GetProspects, m.GetStandings)
    for receiver, message in (("events", m.EventAppend), ("quota", m.GetStandings), ("audit", m.AuditAppend)):
        blocking("breakers", receiver, message)
    blocking("quota", "events", m.EventAppend, m.EventsHead, m.Subscribe)
    posting("quota", "events", "drop", m.Unsubscribe)
    blocking("quota", "settings", m.GetConfig)
    posting("quota", "sessions", "drop", m.QuotaSeen)
    blocking("events", "audit", m.AuditAppend, m.AuditLastEvent)
    blocking("front", "approvals", m.GetApprovals, m.ResolveApproval)
    blocking("session", "approvals", m.AskApproval, m.WithdrawApprovals)
    blocking("approvals", "settings", m.GetConfig)
    blocking("approvals", "events", m.EventAppend)
    blocking("approvals", "audit", m.AuditAppend)
    posting("session", "adapter", "refuse", *get_args(m.AdapterInbox))
    posting("root", "sessions", "refuse", m.Detach)
    return tuple(rows)


EDGES: tuple[Edge, ...] = _edges()


@attrs.frozen
class InboxRule:
    """How much may wait for an actor."""

    mailbox: MailboxSpec
    when_full: str
    """What that means for who sends."""


def _waits(capacity: int, when_full: str) -> InboxRule:
    return InboxRule(MailboxSpec(capacity, Overflow.BLOCK), when_full)


def _refuses(capacity: int, when_full: str) -> InboxRule:
    return InboxRule(MailboxSpec(capacity, Overflow.FAIL), when_full)


INBOXES: Mapping[str, InboxRule] = {
    "audit": _waits(256, "nobody goes on before what he did is on record"),
    "events": _waits(256, "agents are read no further; their output waits in the spool"),
    "settings": _waits(64, "a change waits its turn, none is lost"),
    "knowledge": _waits(64, "who asks waits; what agents did is read from the event log when there is time"),
    "breakers": _waits(64, "no agent is started on a guess whether its breaker is open"),
    "claims": _waits(64, "no account is used before it is claimed"),
    "quota": _waits(64, "who asks who is next waits"),
    "outcomes": _waits(
        64, "who asks waits; what sessions came to is read from the event log when there is time"
    ),
    "notices": _refuses(1, "takes no message"),
    "detector": _waits(16, "who asks for a scan waits for one that began before"),
    "approvals": _waits(
        64, "the session asks again until there is room; its agent waits for the answer anyway"
    ),
    "sessions": _waits(256, "an order waits; news is dropped, and comes again"),
    "session": _waits(64, "its agent is read no further; news is dropped, and comes again"),
    "adapter": _refuses(64, "the session is told that its agent did not get it"),
    "pipelines": _waits(64, "an order waits"),
    "job": _refuses(1, "takes no message"),
    "models": _waits(16, "who asks waits"),
    "front": _refuses(1, "takes no message"),
}
"""Of each actor of the tree. Who sends along a blocking row waits for room, as long as his call has time."""


def slot_of(actor: str, which: str = "") -> Slot[M]:
    """A slot for an actor of this name; `which` tells apart those that there are several of."""
    return Slot(f"{actor} {which}" if which else actor, INBOXES[actor].mailbox)


@attrs.frozen
class Slots:
    """The actors that there is one of, each with its inbox. Those of a session, an agent or a job are made with it."""

    audit: Slot[m.AuditInbox] = attrs.Factory(lambda: slot_of("audit"))
    events: Slot[m.EventsInbox] = attrs.Factory(lambda: slot_of("events"))
    settings: Slot[m.SettingsInbox] = attrs.Factory(lambda: slot_of("settings"))
    knowledge: Slot[m.KnowledgeInbox] = attrs.Factory(lambda: slot_of("knowledge"))
    breakers: Slot[m.BreakersInbox] = attrs.Factory(lambda: slot_of("breakers"))
    claims: Slot[m.ClaimsInbox] = attrs.Factory(lambda: slot_of("claims"))
    quota: Slot[m.QuotaInbox] = attrs.Factory(lambda: slot_of("quota"))
    outcomes: Slot[m.OutcomesInbox] = attrs.Factory(lambda: slot_of("outcomes"))
    notices: Slot[Never] = attrs.Factory(lambda: slot_of("notices"))
    detector: Slot[m.DetectorInbox] = attrs.Factory(lambda: slot_of("detector"))
    approvals: Slot[m.ApprovalsInbox] = attrs.Factory(lambda: slot_of("approvals"))
    sessions: Slot[m.SessionsInbox] = attrs.Factory(lambda: slot_of("sessions"))
    pipelines: Slot[m.PipelinesInbox] = attrs.Factory(lambda: slot_of("pipelines"))
    models: Slot[m.ModelsInbox] = attrs.Factory(lambda: slot_of("models"))
    front: Slot[Never] = attrs.Factory(lambda: slot_of("front"))

    def of_front(self, message: type[M]) -> Ref[M]:
        """Whose inbox a message of the front end goes to. Raises KeyError where it has no row."""
        slot: Slot[M] = getattr(self, _OF_FRONT[message])
        return slot.ref


_OF_FRONT = {edge.message: edge.receiver for edge in EDGES if edge.sender == "front"}


def document() -> str:
    """The text of `design/message-map.md`. A test fails when the file differs from it."""
    rows = "\n".join(
        f"| {e.sender} | {e.receiver} | `{e.message.__name__}` | {'yes' if e.blocking else 'no'} | {e.overflow} |"
        for e in EDGES
    )
    inboxes = "\n".join(
        f"| {name} | {one.mailbox.capacity} | {one.mailbox.overflow.value} | {one.when_full} |"
        for name, one in INBOXES.items()
    )
    return _DOCUMENT.format(rows=rows, inboxes=inboxes)


_DOCUMENT = """\
# Who may send what to whom

Drawn from `EDGES` in `hub/message_map.py`; do not edit by hand. To write it anew:

    python -c "from hub.message_map import document; print(document(), end='')" > design/message-map.md

Blocking rows form a graph without cycles, so no two actors can wait for each other. A row that does not block says
what happens when the receiver's mailbox is full: `refuse` tells the sender, `drop` loses what is repeated later anyway.

| From | To | Message | Waits | When full |
|---|---|---|---|---|
{rows}

# How much may wait

An inbox is bounded. `block`: who sends along a row that waits does so until there is room, or his time is over; a row
that does not wait is as above. `fail`: who sends is refused at once.

| Inbox | Messages | When full | Which means |
|---|---|---|---|
{inboxes}
"""
