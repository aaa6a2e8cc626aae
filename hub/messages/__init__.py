"""Every message an actor's inbox takes.

Owns: the message types, all frozen values.
Must not: hold behaviour, references to actors, or anything that is not plain data (a subscription's channel
is the one exception: it is how events reach a client). Who may send what to whom is in `hub.message_map`. Those
between a session and its agent are in `agent`, those of the settings in `settings`, those of the approvals in
`approvals`, those of models in `models`, those of the detector in `detector`, those of the knowledge graph in
`knowledge`; all are imported from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import trio

from hub.domain.config_model import Pipeline
from hub.domain.event import Record
from hub.domain.failure import Failure
from hub.domain.quota import QuotaReading
from hub.domain.session import ErrorNote, SessionState
from hub.io.sqlite import NewEvent
from hub.messages.agent import AdapterAnswer as AdapterAnswer
from hub.messages.agent import AdapterInterrupt as AdapterInterrupt
from hub.messages.agent import AdapterPause as AdapterPause
from hub.messages.agent import AdapterReply as AdapterReply
from hub.messages.agent import AdapterStop as AdapterStop
from hub.messages.agent import AgentBatch as AgentBatch
from hub.messages.agent import AgentEvent as AgentEvent
from hub.messages.agent import Dispatch as Dispatch
from hub.messages.approvals import AskApproval as AskApproval
from hub.messages.approvals import Decision as Decision
from hub.messages.approvals import GetApprovals as GetApprovals
from hub.messages.approvals import ResolveApproval as ResolveApproval
from hub.messages.approvals import WithdrawApprovals as WithdrawApprovals
from hub.messages.detector import Adopt as Adopt
from hub.messages.detector import Detect as Detect
from hub.messages.knowledge import GetGraph as GetGraph
from hub.messages.knowledge import GetGraphDetail as GetGraphDetail
from hub.messages.knowledge import GetGraphNodes as GetGraphNodes
from hub.messages.knowledge import IndexCode as IndexCode
from hub.messages.knowledge import Retrieve as Retrieve
from hub.messages.models import CancelPull as CancelPull
from hub.messages.models import LaunchModel as LaunchModel
from hub.messages.models import ListModels as ListModels
from hub.messages.models import Look as Look
from hub.messages.models import PullModel as PullModel
from hub.messages.settings import AddAccount as AddAccount
from hub.messages.settings import GetConfig as GetConfig
from hub.messages.settings import GetLoggedOut as GetLoggedOut
from hub.messages.settings import GetProfiles as GetProfiles
from hub.messages.settings import GetVision as GetVision
from hub.messages.settings import Install as Install
from hub.messages.settings import LogIn as LogIn
from hub.messages.settings import PatchProvider as PatchProvider
from hub.messages.settings import PatchVision as PatchVision
from hub.messages.settings import ProviderChanged as ProviderChanged
from hub.messages.settings import ProvidersConfigured as ProvidersConfigured
from hub.messages.settings import PutProfile as PutProfile
from hub.messages.settings import RemoveAccount as RemoveAccount
from hub.messages.settings import RemoveProfile as RemoveProfile
from hub.messages.settings import SetKey as SetKey
from hub.messages.settings import SwitchAccount as SwitchAccount

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
class AuditIntact:
    """Answers whether the chain on the disk is whole up to its newest record: what was judged before is not again."""


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
class EventsHead:
    """Answers the highest event id; 0 when there is none."""


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


# --- outcomes ---------------------------------------------------------------------------------------------


@attrs.frozen
class GetOutcomes:
    """Answers what `GET /api/outcomes` serves."""


# --- quota ------------------------------------------------------------------------------------------------


@attrs.frozen
class GetWallet:
    """Answers what `GET /api/quota/wallet` serves."""


@attrs.frozen
class GetProspects:
    """Answers `{(provider, account): [Prospect]}` for every window that is known and has not begun anew.

    `readings` are taken into the ledger first: whoever asks has just heard them.
    """

    readings: Sequence[QuotaReading] = ()


@attrs.frozen
class QuotaSeen:
    """A poll found these windows changed. Repeated with the next change."""

    readings: Sequence[QuotaReading]


# --- session ----------------------------------------------------------------------------------------------


@attrs.frozen
class StartRun:
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
class SessionEnd:
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
class ReleaseRun:
    """The pipeline run is over: other sessions may start."""

    run_id: str


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
    """Answers `{sessionId, branch, worktree, mainBranch, base, active, accounts}`: what others must know of it."""


# --- pipelines --------------------------------------------------------------------------------------------


@attrs.frozen
class GetPipelines:
    """Answers what `GET /api/pipelines` serves."""


@attrs.frozen
class ReplacePipelines:
    """Store these in place of all that are stored; those of `hub.toml` stay. Answers the list as it then is."""

    pipelines: Sequence[Pipeline]


@attrs.frozen
class RunPipeline:
    """Start a run. Answers what `GET /api/pipelines/run` serves, once its first session is accepted."""

    name: str
    resume: bool = False
    """Take over what the last run of this pipeline completed."""


@attrs.frozen
class GetPipelineRun:
    """Answers the run that goes on, else the last one; {} when there was none."""


@attrs.frozen
class StopPipeline:
    """End the run in order: no further node starts, the session under way is stopped.

    Answers the run once it has ended; {} at once when none goes on.
    """
