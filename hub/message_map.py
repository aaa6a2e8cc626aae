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

import attrs

from hub.messages import (
    AdapterAnswer,
    AdapterInterrupt,
    AdapterPause,
    AdapterReply,
    AdapterStop,
    AddAccount,
    Adopt,
    AgentBatch,
    AskApproval,
    AuditAppend,
    AuditHead,
    AuditHistory,
    AuditIntact,
    AuditLastEvent,
    BreakerAttempt,
    BreakerClosed,
    BreakerFailure,
    BreakerSnapshots,
    BreakerSuccess,
    BreakerWithdrawn,
    CancelPull,
    Detach,
    Detect,
    DrawIntent,
    EventAppend,
    EventsHead,
    EventsOfDispatch,
    EventsOfSession,
    EventsOnRecord,
    EventsSince,
    GetApprovals,
    GetConfig,
    GetContract,
    GetCost,
    GetGraph,
    GetGraphDetail,
    GetGraphNodes,
    GetLogins,
    GetOutcomes,
    GetPipelineRun,
    GetPipelines,
    GetProfiles,
    GetProspects,
    GetProviders,
    GetRedactions,
    GetSessionFacts,
    GetStandings,
    GetStatus,
    GetVision,
    GetWallet,
    IndexCode,
    Install,
    LaunchModel,
    ListModels,
    LogIn,
    Look,
    PatchProvider,
    PatchVision,
    ProviderChanged,
    ProvidersConfigured,
    PullModel,
    PutProfile,
    QuotaSeen,
    ReleaseRun,
    RemoveAccount,
    RemoveProfile,
    ReplacePipelines,
    RequestHandoff,
    RequestPause,
    RequestReply,
    RequestStop,
    ResolveApproval,
    Retrieve,
    RunPipeline,
    SessionEnd,
    SetKey,
    SpentElsewhere,
    StartRun,
    StopPipeline,
    Subscribe,
    SwitchAccount,
    Unsubscribe,
    WhoBegins,
    WithdrawApprovals,
)


@attrs.frozen
class Edge:
    """A row of the message map."""

    sender: str
    receiver: str
    message: type
    blocking: bool
    overflow: str
    """What happens when the inbox is full: `wait`, `refuse` (the sender is told) or `drop` (it is repeated later)."""


_SESSION_VIEWS = (GetStatus, GetProviders, GetCost, GetRedactions, GetContract, GetSessionFacts)
_SESSION_ORDERS = (StartRun, RequestHandoff, RequestPause, RequestReply, RequestStop)
_BREAKERS = (BreakerAttempt, BreakerClosed, BreakerFailure, BreakerSuccess, BreakerWithdrawn)
_AGENT_ORDERS = (AdapterReply, AdapterAnswer, AdapterInterrupt, AdapterStop, AdapterPause)

_WATCHERS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("models", (ListModels, PullModel, CancelPull, LaunchModel, Look)),
    ("detector", (Detect, Adopt)),
    ("outcomes", (GetOutcomes,)),
    ("knowledge", (GetGraph, GetGraphNodes, GetGraphDetail, Retrieve, IndexCode)),
)
_DETECTOR: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("settings", (GetConfig,)),
    ("events", (EventAppend, EventsSince)),
    ("audit", (AuditAppend,)),
    ("session", (StartRun, WhoBegins, GetSessionFacts)),
    ("quota", (SpentElsewhere,)),
)


def _edges() -> tuple[Edge, ...]:
    rows: list[Edge] = []

    def blocking(sender: str, receiver: str, *messages: type) -> None:
        rows.extend(Edge(sender, receiver, m, blocking=True, overflow="wait") for m in messages)

    def posting(sender: str, receiver: str, overflow: str, *messages: type) -> None:
        rows.extend(Edge(sender, receiver, m, blocking=False, overflow=overflow) for m in messages)

    blocking("front", "pipelines", GetPipelines, ReplacePipelines, RunPipeline, GetPipelineRun, StopPipeline)
    blocking("root", "pipelines", StopPipeline)
    blocking("pipelines", "session", StartRun, SessionEnd, ReleaseRun, RequestStop, GetSessionFacts)
    blocking("pipelines", "events", EventAppend)
    blocking("pipelines", "audit", AuditAppend)
    blocking("pipelines", "settings", GetConfig)
    blocking("front", "session", *_SESSION_ORDERS, *_SESSION_VIEWS)
    blocking("front", "events", EventsSince, Subscribe)
    posting("front", "events", "drop", Unsubscribe)
    blocking("front", "settings", GetConfig, ProvidersConfigured, PatchProvider, SetKey)
    blocking("front", "settings", AddAccount, SwitchAccount, RemoveAccount, Install, LogIn)
    blocking("front", "settings", GetProfiles, PutProfile, RemoveProfile, GetVision, PatchVision)
    for receiver, messages in _WATCHERS:
        blocking("front", receiver, *messages)
    blocking("models", "settings", GetConfig)
    for receiver, messages in _DETECTOR:
        blocking("detector", receiver, *messages)
    for reader in ("outcomes", "knowledge"):
        blocking(reader, "events", EventsHead, Subscribe)
        posting(reader, "events", "drop", Unsubscribe)
    blocking("knowledge", "events", EventAppend)
    blocking("job", "events", EventAppend)
    posting("job", "settings", "drop", ProviderChanged)
    blocking("settings", "events", EventAppend)
    blocking("settings", "audit", AuditAppend)
    blocking("front", "breakers", BreakerSnapshots)
    blocking("front", "quota", GetWallet)
    blocking("front", "audit", AuditHead, AuditHistory, AuditAppend)
    blocking("adapter", "session", AgentBatch)
    blocking("session", "events", EventAppend, EventsHead, EventsOfDispatch, EventsOfSession, EventsOnRecord)
    blocking("session", "knowledge", DrawIntent)
    blocking("session", "audit", AuditAppend, AuditHead, AuditIntact)
    blocking("session", "settings", GetConfig, GetLogins)
    blocking("session", "breakers", *_BREAKERS)
    blocking("session", "quota", GetProspects, GetStandings)
    for receiver, message in (("events", EventAppend), ("quota", GetStandings), ("audit", AuditAppend)):
        blocking("breakers", receiver, message)
    blocking("quota", "events", EventAppend, EventsHead, Subscribe)
    posting("quota", "events", "drop", Unsubscribe)
    blocking("quota", "settings", GetConfig)
    posting("quota", "session", "drop", QuotaSeen)
    blocking("events", "audit", AuditAppend, AuditLastEvent)
    blocking("front", "approvals", GetApprovals, ResolveApproval)
    blocking("session", "approvals", AskApproval, WithdrawApprovals)
    blocking("approvals", "settings", GetConfig)
    blocking("approvals", "events", EventAppend)
    blocking("approvals", "audit", AuditAppend)
    posting("session", "adapter", "refuse", *_AGENT_ORDERS)
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

Drawn from `EDGES` in `hub/message_map.py`; do not edit by hand. To write it anew:

    python -c "from hub.message_map import document; print(document(), end='')" > design/message-map.md

Blocking rows form a graph without cycles, so no two actors can wait for each other. A row that does not block says
what happens when the receiver's mailbox is full: `refuse` tells the sender, `drop` loses what is repeated later anyway.

| From | To | Message | Waits | When full |
|---|---|---|---|---|
{rows}
"""
