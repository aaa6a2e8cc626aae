"""What passes between the approvals and those who ask, wait and answer.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.api.approvals import Approval, Resolved
from hub.domain.approval import PermissionRequest
from supervisors import Call


@attrs.frozen
class AskApproval(Call["Decision"]):
    """Put a request on record, once however often it is sent, and answer how it stands, as a `Decision`.

    Answered when the request is durable and told; with `patient` only when it is decided.
    """

    request: PermissionRequest
    patient: bool = False


@attrs.frozen
class Decision:
    """How a request stands."""

    pending: bool
    approved: bool = False
    withdrawn: bool = False
    note: str = attrs.field(default="", repr=False)
    """For the agent: not redacted."""


@attrs.frozen
class WithdrawApprovals(Call[None]):
    """Nobody waits any more for the answers to a session's requests; those still pending end without one.

    With a `dispatch_id` only those of that run of an agent, with a `native_id` only that one.
    """

    session_id: str
    dispatch_id: str = ""
    native_id: str = ""


@attrs.frozen
class GetApprovals(Call[list[Approval]]):
    """What waits for a person's word, oldest first."""


@attrs.frozen
class ResolveApproval(Call[Resolved]):
    """Answer a pending request. Answered once that is durable and on the audit log."""

    id: str
    approved: bool
    note: str = attrs.field(default="", repr=False)
    always: bool = False
    """Whether a yes holds for the rest of the session."""


ApprovalsInbox = AskApproval | GetApprovals | ResolveApproval | WithdrawApprovals
