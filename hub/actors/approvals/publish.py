"""What is published of a request: on the audit log, then on the event log, and then to those who wait.

Owns: what is said of each stage, in this order, and the keys.
Must not: decide anything.

The key is made of the request and its stage: so a restart publishes again whatever it is not sure of.
"""

from __future__ import annotations

from hub.actors.common.outbox import Outbox, known
from hub.domain.approval import ApprovalRecord, ApprovalState, By
from hub.domain.event import Tag
from hub.io import failpoints


async def publish(outbox: Outbox, approval: ApprovalRecord) -> None:
    """Everything about the request up to how it stands; durable when this returns.

    Raises:
        HubError: A log did not take it.
    """
    if approval.by != By.POLICY:
        await _requested(outbox, approval)
    if not approval.pending:
        await _resolved(outbox, approval)
        failpoints.hit("approval.told")


async def _requested(outbox: Outbox, approval: ApprovalRecord) -> None:
    about, key = _about(approval), f"approval:{approval.id}:requested"
    more = known(severity=approval.severity, reason=approval.reason)
    await outbox.record("approval_requested", {**about, **more}, key)
    words = f"approval needed: {approval.request.action}"
    await outbox.publish(Tag.WAITING, words, {**about, **more, "needsApproval": True}, key)


async def _resolved(outbox: Outbox, approval: ApprovalRecord) -> None:
    about, key = _about(approval), f"approval:{approval.id}:resolved"
    more = known(state=str(approval.state), by=approval.by, note=approval.note)
    await outbox.record("approval_resolved", {**about, **more}, key)
    failpoints.hit("approval.audited")
    approved = approval.state is ApprovalState.APPROVED
    if approval.by == By.POLICY and approved:
        return  # what the rules allow is on the audit log; the agent's own events tell the rest
    note = f" ({approval.note})" if approval.note else ""
    words = f"{approval.state}: {approval.request.action}{note}"
    await outbox.publish(Tag.WAITING, words, {**about, **more, "approved": approved}, key)


def _about(approval: ApprovalRecord) -> dict[str, str]:
    request = approval.request
    return known(
        approvalId=approval.id,
        sessionId=request.session_id,
        provider=request.provider,
        action=request.action,
    )
