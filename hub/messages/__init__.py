"""Every message an actor's inbox takes.

Owns: the one place that all of them are imported from.
Must not: hold a message itself. Messages are frozen values without behaviour. Who may send what to whom is in
`hub.message_map`.
Tests: tests/hub/test_messages.py
"""

from hub.messages.agent import (
    AdapterAnswer,
    AdapterInbox,
    AdapterInterrupt,
    AdapterPause,
    AdapterReply,
    AdapterStop,
    AgentBatch,
    AgentEvent,
    Dispatch,
)
from hub.messages.approvals import (
    ApprovalsInbox,
    AskApproval,
    Decision,
    GetApprovals,
    ResolveApproval,
    WithdrawApprovals,
)
from hub.messages.audit import (
    AuditAppend,
    AuditEntry,
    AuditHistory,
    AuditInbox,
    AuditIntact,
    AuditLastEvent,
    GetAuditHead,
)
from hub.messages.breakers import (
    BreakerAttempt,
    BreakerClosed,
    BreakerFailure,
    BreakersInbox,
    BreakerSnapshots,
    BreakerSuccess,
    BreakerWithdrawn,
    Shut,
)
from hub.messages.claims import (
    AccountFreed,
    AwaitAccounts,
    ClaimAccount,
    ClaimsInbox,
    GetClaims,
    ReleaseAccount,
    RetainClaims,
)
from hub.messages.detector import Adopt, Detect, DetectorInbox
from hub.messages.events import (
    EventAppend,
    EventsHead,
    EventsInbox,
    EventsOfDispatch,
    EventsOnRecord,
    EventsSince,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from hub.messages.knowledge import (
    DrawIntent,
    GetGraph,
    GetGraphDetail,
    GetGraphNodes,
    IndexCode,
    KnowledgeInbox,
    Retrieve,
)
from hub.messages.models import CancelPull, LaunchModel, ListModels, LookAtImage, ModelsInbox, PullModel
from hub.messages.outcomes import GetCosts, GetOutcomes, OutcomesInbox
from hub.messages.pipelines import (
    GetPipelineRun,
    GetPipelines,
    PipelinesInbox,
    ReplacePipelines,
    RunPipeline,
    StopPipeline,
)
from hub.messages.quota import GetProspects, GetStandings, GetWallet, QuotaInbox, QuotaSeen, SpentElsewhere
from hub.messages.session import (
    Detach,
    DraftFollowUp,
    FollowUp,
    GetContract,
    GetCost,
    GetInUse,
    GetProviders,
    GetRedactions,
    GetSessionFacts,
    GetSessions,
    GetStatus,
    ReleaseRun,
    RequestHandoff,
    RequestPause,
    RequestReply,
    RequestStop,
    SessionEnd,
    SessionFacts,
    SessionInbox,
    SessionNews,
    SessionOrder,
    SessionQuestion,
    SessionsInbox,
    StartRun,
    StopAll,
    WhoBegins,
)
from hub.messages.settings import (
    AddAccount,
    GetConfig,
    GetLogins,
    GetProfiles,
    GetVision,
    InstallAgent,
    LogIn,
    PatchProvider,
    PatchVision,
    ProviderChanged,
    ProvidersConfigured,
    PutProfile,
    RemoveAccount,
    RemoveProfile,
    SetKey,
    SettingsInbox,
    SwitchAccount,
)
