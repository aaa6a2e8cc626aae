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

from hub.messages import (
    agent,
    approvals,
    audit,
    breakers,
    claims,
    detector,
    events,
    knowledge,
    models,
    outcomes,
    pipelines,
    quota,
    session,
    settings,
)
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

    blocking("root", "pipelines", pipelines.StopPipeline)
    blocking("root", "sessions", session.StopAll)
    blocking("pipelines", "sessions", session.StartRun, session.SessionEnd, session.ReleaseRun)
    blocking("pipelines", "sessions", session.RequestStop)
    blocking("pipelines", "sessions", session.GetSessionFacts, session.GetInUse)
    blocking("pipelines", "events", events.EventAppend)
    blocking("pipelines", "audit", audit.AuditAppend)
    blocking("pipelines", "settings", settings.GetConfig)
    blocking("front", "sessions", session.StartRun, *get_args(session.SessionOrder))
    blocking("front", "sessions", *get_args(session.SessionQuestion))
    blocking("front", "sessions", session.GetProviders, session.GetSessions, session.GetInUse)
    blocking("sessions", "session", *get_args(session.SessionQuestion), *get_args(session.SessionOrder))
    blocking("sessions", "session", session.SessionEnd, session.ReleaseRun, session.DraftFollowUp)
    posting("sessions", "session", "drop", *get_args(session.SessionNews))
    posting("claims", "sessions", "drop", claims.AccountFreed)
    blocking("session", "claims", claims.AwaitAccounts, claims.ClaimAccount, claims.ReleaseAccount)
    blocking("session", "claims", claims.GetClaims)
    blocking("sessions", "events", events.EventAppend)
    blocking("sessions", "audit", audit.AuditAppend)
    blocking("sessions", "breakers", breakers.BreakerClosed)
    blocking("sessions", "settings", settings.GetConfig, settings.GetLogins)
    blocking("sessions", "quota", quota.GetProspects, quota.GetStandings)
    blocking("sessions", "claims", claims.GetClaims, claims.RetainClaims)
    blocking("front", "events", events.EventsSince, events.Subscribe)
    posting("front", "events", "drop", events.Unsubscribe)
    blocking("front", "settings", settings.GetConfig, settings.ProvidersConfigured, settings.PatchProvider)
    blocking("front", "settings", settings.SetKey)
    blocking("front", "settings", settings.AddAccount, settings.SwitchAccount, settings.RemoveAccount)
    blocking("front", "settings", settings.InstallAgent, settings.LogIn)
    blocking("front", "settings", settings.GetProfiles, settings.PutProfile, settings.RemoveProfile)
    blocking("front", "settings", settings.GetVision, settings.PatchVision)
    blocking("front", "pipelines", *get_args(pipelines.PipelinesInbox))
    blocking("front", "models", *get_args(models.ModelsInbox))
    blocking("front", "detector", *get_args(detector.DetectorInbox))
    blocking("front", "outcomes", outcomes.GetCosts, outcomes.GetOutcomes)
    blocking("front", "knowledge", knowledge.GetGraph, knowledge.GetGraphNodes, knowledge.GetGraphDetail)
    blocking("front", "knowledge", knowledge.Retrieve, knowledge.IndexCode)
    blocking("models", "settings", settings.GetConfig)
    blocking("detector", "settings", settings.GetConfig)
    blocking("detector", "events", events.EventAppend, events.EventsSince)
    blocking("detector", "audit", audit.AuditAppend)
    blocking("detector", "sessions", session.StartRun, session.WhoBegins, session.GetInUse)
    blocking("detector", "quota", quota.SpentElsewhere)
    for reader in ("outcomes", "knowledge", "notices"):
        blocking(reader, "events", events.EventsHead, events.Subscribe)
        posting(reader, "events", "drop", events.Unsubscribe)
    blocking("knowledge", "events", events.EventAppend)
    blocking("notices", "events", events.EventAppend)
    blocking("notices", "settings", settings.GetConfig)
    blocking("job", "events", events.EventAppend)
    posting("job", "settings", "drop", settings.ProviderChanged)
    blocking("settings", "events", events.EventAppend)
    blocking("settings", "audit", audit.AuditAppend)
    blocking("front", "breakers", breakers.BreakerSnapshots)
    blocking("front", "quota", quota.GetWallet)
    blocking("front", "audit", audit.GetAuditHead, audit.AuditHistory, audit.AuditAppend)
    blocking("adapter", "session", agent.AgentBatch)
    blocking("session", "events", events.EventAppend, events.EventsHead, events.EventsOfDispatch)
    blocking("session", "events", events.EventsOnRecord, events.EventsSince)
    blocking("session", "knowledge", knowledge.DrawIntent)
    blocking("session", "audit", audit.AuditAppend, audit.GetAuditHead, audit.AuditIntact)
    blocking("session", "settings", settings.GetConfig, settings.GetLogins)
    blocking("session", "breakers", breakers.BreakerAttempt, breakers.BreakerClosed, breakers.BreakerFailure)
    blocking("session", "breakers", breakers.BreakerSuccess, breakers.BreakerWithdrawn)
    blocking("session", "quota", quota.GetProspects, quota.GetStandings)
    for receiver, message in (
        ("events", events.EventAppend),
        ("quota", quota.GetStandings),
        ("audit", audit.AuditAppend),
    ):
        blocking("breakers", receiver, message)
    blocking("quota", "events", events.EventAppend, events.EventsHead, events.Subscribe)
    posting("quota", "events", "drop", events.Unsubscribe)
    blocking("quota", "settings", settings.GetConfig)
    posting("quota", "sessions", "drop", quota.QuotaSeen)
    blocking("events", "audit", audit.AuditAppend, audit.AuditLastEvent)
    blocking("front", "approvals", approvals.GetApprovals, approvals.ResolveApproval)
    blocking("session", "approvals", approvals.AskApproval, approvals.WithdrawApprovals)
    blocking("approvals", "settings", settings.GetConfig)
    blocking("approvals", "events", events.EventAppend)
    blocking("approvals", "audit", audit.AuditAppend)
    posting("session", "adapter", "refuse", *get_args(agent.AdapterInbox))
    posting("root", "sessions", "refuse", session.Detach)
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

    audit: Slot[audit.AuditInbox] = attrs.Factory(lambda: slot_of("audit"))
    events: Slot[events.EventsInbox] = attrs.Factory(lambda: slot_of("events"))
    settings: Slot[settings.SettingsInbox] = attrs.Factory(lambda: slot_of("settings"))
    knowledge: Slot[knowledge.KnowledgeInbox] = attrs.Factory(lambda: slot_of("knowledge"))
    breakers: Slot[breakers.BreakersInbox] = attrs.Factory(lambda: slot_of("breakers"))
    claims: Slot[claims.ClaimsInbox] = attrs.Factory(lambda: slot_of("claims"))
    quota: Slot[quota.QuotaInbox] = attrs.Factory(lambda: slot_of("quota"))
    outcomes: Slot[outcomes.OutcomesInbox] = attrs.Factory(lambda: slot_of("outcomes"))
    notices: Slot[Never] = attrs.Factory(lambda: slot_of("notices"))
    detector: Slot[detector.DetectorInbox] = attrs.Factory(lambda: slot_of("detector"))
    approvals: Slot[approvals.ApprovalsInbox] = attrs.Factory(lambda: slot_of("approvals"))
    sessions: Slot[session.SessionsInbox] = attrs.Factory(lambda: slot_of("sessions"))
    pipelines: Slot[pipelines.PipelinesInbox] = attrs.Factory(lambda: slot_of("pipelines"))
    models: Slot[models.ModelsInbox] = attrs.Factory(lambda: slot_of("models"))
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
