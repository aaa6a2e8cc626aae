"""What passes between a session and the adapter of its agent.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from hub.domain.event import Event
from supervisors import Call, Cast

if TYPE_CHECKING:
    from hub.providers.base import Assignment, Outcome, ProcessExit


@attrs.frozen
class AgentEvent:
    """One event of the agent with its place in the spool."""

    offset: int
    index: int
    at_ms: int
    event: Event


@attrs.frozen
class AgentBatch(Call[None]):
    """What the agent said since the last batch, already redacted, and where its stream stands."""

    dispatch_id: str
    events: Sequence[AgentEvent]
    tools_in_flight: int = 0
    native_session: str = ""
    alive: bool = False
    outcome: Outcome | None = None
    exit: ProcessExit | None = None
    """Set in the last batch: the process has ended and every line was read."""
    no_space: bool = False
    """Whether what it says, or how it ended, waits for space on the disk."""
    current: bool = True
    """Whether all that it had said when it was found again has been read; what stands before is what it once said."""


@attrs.frozen
class AdapterReply(Cast):
    """Pass a user's reply on."""

    text: str
    key: str


@attrs.frozen
class AdapterAnswer(Cast):
    """Answer the agent's request for permission."""

    native_id: str
    approved: bool
    note: str = attrs.field(repr=False)


@attrs.frozen
class AdapterInterrupt(Cast):
    """Use the agent's own interrupt."""


@attrs.frozen
class AdapterStop(Cast):
    """Stop the agent in order: close its input, then the ladder."""

    reason: str
    hard: bool = False


@attrs.frozen
class AdapterPause(Cast):
    """SIGSTOP or SIGCONT for the agent's process group."""

    pause: bool


@attrs.frozen
class Dispatch:
    """What an adapter is started with."""

    assignment: Assignment
    provider: str
    attach: bool
    """False: claim and spawn. True: the runner exists (alive or not): read on from its spool."""


AdapterInbox = AdapterAnswer | AdapterInterrupt | AdapterPause | AdapterReply | AdapterStop
