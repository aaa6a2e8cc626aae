"""Whose a session's dispatch is.

Owns: which of the two agents of a handoff the record means at each state, and what is said when that agent is gone.
Must not: know how an agent is dealt with (`agent_control` does).
"""

from __future__ import annotations

from hub.domain.handoff import State
from hub.domain.session import SessionRecord
from hub.errors import Code, HubError


def owner(record: SessionRecord) -> tuple[str, str]:
    """Provider and account of the record's dispatch: the receiver's between DISPATCHED and its heartbeat."""
    receiver = record.handoff.receiver
    if receiver is not None and record.state in (State.DISPATCHED, State.RESUMING):
        return receiver.provider, receiver.account
    return record.provider, record.account


def unknown_agent(name: str) -> HubError:
    """Why a record's agent cannot be dealt with."""
    hint = f"Describe it again in [providers.{name}] of hub.toml, or start the task anew: its work is on the branch."
    return HubError(Code.AGENT_MISSING, f"{name} is no longer in hub.toml.", hint=hint)
