"""Every message an actor's inbox takes.

Owns: which module holds which message; all are imported from here, and each module when one of its messages is first
used: a daemon that has just started needs one in four.
Must not: hold a message itself. Messages are frozen values without behaviour. Who may send what to whom is in
`hub.message_map`.
Tests: tests/hub/test_messages.py
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hub.messages.agent import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.approvals import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.audit import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.breakers import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.detector import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.events import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.knowledge import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.models import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.outcomes import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.pipelines import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.quota import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.session import *  # noqa: F403  # for type checkers; `_PARTS` has the names
    from hub.messages.settings import *  # noqa: F403  # for type checkers; `_PARTS` has the names

_PARTS: dict[str, tuple[str, ...]] = {
    "agent": (
        "AgentEvent",
        "AgentBatch",
        "AdapterReply",
        "AdapterAnswer",
        "AdapterInterrupt",
        "AdapterStop",
        "AdapterPause",
        "Dispatch",
    ),
    "approvals": (
        "AskApproval",
        "Decision",
        "WithdrawApprovals",
        "GetApprovals",
        "ResolveApproval",
    ),
    "audit": (
        "AuditEntry",
        "AuditAppend",
        "AuditHead",
        "AuditIntact",
        "AuditLastEvent",
        "AuditHistory",
    ),
    "breakers": (
        "BreakerFailure",
        "BreakerSuccess",
        "BreakerAttempt",
        "BreakerWithdrawn",
        "Shut",
        "BreakerClosed",
        "BreakerSnapshots",
    ),
    "detector": ("Adopt", "Detect"),
    "events": (
        "EventAppend",
        "EventsSince",
        "EventsOfDispatch",
        "EventsOfSession",
        "EventsHead",
        "EventsOnRecord",
        "Subscribe",
        "Unsubscribe",
        "Subscription",
    ),
    "knowledge": (
        "GetGraph",
        "GetGraphNodes",
        "GetGraphDetail",
        "Retrieve",
        "IndexCode",
        "DrawIntent",
    ),
    "models": (
        "ListModels",
        "PullModel",
        "CancelPull",
        "LaunchModel",
        "Look",
    ),
    "outcomes": ("GetOutcomes",),
    "pipelines": (
        "GetPipelines",
        "ReplacePipelines",
        "RunPipeline",
        "GetPipelineRun",
        "StopPipeline",
    ),
    "quota": (
        "GetWallet",
        "GetProspects",
        "GetStandings",
        "SpentElsewhere",
        "QuotaSeen",
    ),
    "session": (
        "StartRun",
        "WhoBegins",
        "RequestHandoff",
        "RequestPause",
        "RequestReply",
        "RequestStop",
        "SessionEnd",
        "Ended",
        "ReleaseRun",
        "Detach",
        "GetStatus",
        "GetProviders",
        "GetCost",
        "GetRedactions",
        "GetContract",
        "GetSessionFacts",
    ),
    "settings": (
        "GetConfig",
        "ProvidersConfigured",
        "GetLogins",
        "GetProfiles",
        "PutProfile",
        "RemoveProfile",
        "GetVision",
        "PatchVision",
        "PatchProvider",
        "SetKey",
        "SwitchAccount",
        "AddAccount",
        "RemoveAccount",
        "Install",
        "LogIn",
        "ProviderChanged",
    ),
}
_WHERE = {name: part for part, names in _PARTS.items() for name in names}


def __getattr__(name: str) -> Any:
    """The message of that name, kept from then on."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    return found


def __dir__() -> list[str]:
    """The names of all messages."""
    return sorted(_WHERE)
