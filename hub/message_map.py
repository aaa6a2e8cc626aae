"""The table of who may send what to whom.

Owns: `EDGES`, and the picture of it in `design/message-map.md`.
Must not: hold behaviour; actors send, this only says what they may.

Rules:
 1. A message reaches an actor only along a row of `EDGES`.
 2. Blocking rows (calls, and casts that may wait for room) form a directed graph without cycles; a test proves it.
 3. A row that runs against that order never blocks, and says what happens when there is no room.

Tests: tests/hub/test_messages.py
"""

from __future__ import annotations

from typing import Never, TypeVar, get_args

import attrs

from hub import messages as m
from supervisors import Ref, Slot

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
    blocking("session", "claims", m.ClaimAccount, m.ReleaseAccount, m.GetClaims)
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
        m.EventsOfSession,
        m.EventsOnRecord,
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
class Slots:
    """The actors that have a name, each with its inbox. Those of a session, an agent or a job are made with it."""

    audit: Slot[m.AuditInbox] = attrs.Factory(lambda: Slot("audit"))
    events: Slot[m.EventsInbox] = attrs.Factory(lambda: Slot("events"))
    settings: Slot[m.SettingsInbox] = attrs.Factory(lambda: Slot("settings"))
    knowledge: Slot[m.KnowledgeInbox] = attrs.Factory(lambda: Slot("knowledge"))
    breakers: Slot[m.BreakersInbox] = attrs.Factory(lambda: Slot("breakers"))
    claims: Slot[m.ClaimsInbox] = attrs.Factory(lambda: Slot("claims"))
    quota: Slot[m.QuotaInbox] = attrs.Factory(lambda: Slot("quota"))
    outcomes: Slot[m.OutcomesInbox] = attrs.Factory(lambda: Slot("outcomes"))
    notices: Slot[Never] = attrs.Factory(lambda: Slot("notices"))
    detector: Slot[m.DetectorInbox] = attrs.Factory(lambda: Slot("detector"))
    approvals: Slot[m.ApprovalsInbox] = attrs.Factory(lambda: Slot("approvals"))
    sessions: Slot[m.SessionsInbox] = attrs.Factory(lambda: Slot("sessions"))
    pipelines: Slot[m.PipelinesInbox] = attrs.Factory(lambda: Slot("pipelines"))
    models: Slot[m.ModelsInbox] = attrs.Factory(lambda: Slot("models"))
    front: Slot[Never] = attrs.Factory(lambda: Slot("front"))

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
    return _DOCUMENT.format(rows=rows)


_DOCUMENT = """\
# Who may send what to whom

Drawn from `EDGES` in `hub/message_map.py`; do not edit by hand. To write it anew:

    python -c "from hub.message_map import document; print(document(), end='')" > design/message-map.md

Blocking rows form a graph without cycles, so no two actors can wait for each other. A row that does not block says
what happens when the receiver's mailbox is full: `refuse` tells the sender, `drop` loses what is repeated later anyway.

| From | To | Message | Waits | When full |
|---|---|---|---|---|
{rows}
"""
