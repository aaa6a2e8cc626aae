"""OTP-style supervision on Trio."""

from supervisors.actor import Actor, Context, actor_spec
from supervisors.backoff import Backoff
from supervisors.child import ChildState, Life
from supervisors.dynamic import DynamicSupervisor, dynamic_spec
from supervisors.events import At, EventKind, SupEvent, System
from supervisors.exits import Exit, ExitKind, Ignore, IntensityReached, Shutdown, StartFailed, StartTimeout
from supervisors.handle import AdminCode, AdminError, ChildInfo, Counts, DynamicHandle, SupervisorHandle
from supervisors.mailbox import DEFER, MailboxFull, MailboxSpec, Overflow, Reply
from supervisors.monitor import Down, Monitor
from supervisors.ref import ActorDied, CallCycle, Ref, Slot, SlotInUse
from supervisors.registry import NameTaken, Registry
from supervisors.root import Root, run_root
from supervisors.spec import (
    BRUTAL_KILL,
    AutoShutdown,
    ChildSpec,
    Kind,
    Restart,
    SpecError,
    Strategy,
    SupervisorSpec,
)
from supervisors.supervisor import Supervisor, supervisor_spec
from supervisors.tree import NodeInfo

__all__ = [
    "BRUTAL_KILL",
    "DEFER",
    "Actor",
    "ActorDied",
    "AdminCode",
    "AdminError",
    "At",
    "AutoShutdown",
    "Backoff",
    "CallCycle",
    "ChildInfo",
    "ChildSpec",
    "ChildState",
    "Context",
    "Counts",
    "Down",
    "DynamicHandle",
    "DynamicSupervisor",
    "EventKind",
    "Exit",
    "ExitKind",
    "Ignore",
    "IntensityReached",
    "Kind",
    "Life",
    "MailboxFull",
    "MailboxSpec",
    "Monitor",
    "NameTaken",
    "NodeInfo",
    "Overflow",
    "Ref",
    "Registry",
    "Reply",
    "Restart",
    "Root",
    "Shutdown",
    "Slot",
    "SlotInUse",
    "SpecError",
    "StartFailed",
    "StartTimeout",
    "Strategy",
    "SupEvent",
    "Supervisor",
    "SupervisorHandle",
    "SupervisorSpec",
    "System",
    "actor_spec",
    "dynamic_spec",
    "run_root",
    "supervisor_spec",
]
