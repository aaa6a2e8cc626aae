"""What is told about a request: to the audit log, to the event log, and then to those who wait.

Owns: the order "record, then audit, then event, then the one who waits", and the retelling after a crash.
Must not: decide anything.

What is told carries a key made of the request and its stage, and both logs skip a key they have: so a restart tells
again whatever it is not sure of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from hub.actors.insist import insist
from hub.domain.approval import Approval, By, State
from hub.domain.event import Tag
from hub.errors import HubError
from hub.io import failpoints
from hub.io.sqlite import NewEvent
from hub.messages import AuditAppend, AuditEntry, EventAppend
from supervisors import Ref


@attrs.define
class Teller:
    """Tells both logs; every call may be repeated."""

    audit: Ref[Any]
    events: Ref[Any]
    clock: Callable[[], float]
    scrub: Callable[[Any], Any]
    """Hides secrets: a user's note may hold one, which is for the agent alone."""

    async def tell(self, approval: Approval) -> None:
        """Everything about the request up to how it stands; durable when this returns.

        Raises:
            HubError: A log did not take it.
        """
        if approval.by != By.POLICY:
            await self._requested(approval)
        if not approval.pending:
            await self._resolved(approval)
            failpoints.hit("approval.told")

    async def trouble(self, error: HubError) -> None:
        """An error that nobody asked for."""
        await self._log(Tag.ERROR, error.detail, {"code": str(error.code), "hint": error.hint}, "")

    async def _requested(self, approval: Approval) -> None:
        about = {"severity": approval.severity, "reason": approval.reason}
        await self._audit("approval_requested", approval, "requested", **about)
        words = f"approval needed: {approval.request.action}"
        meta = {**self._about(approval), **about, "needsApproval": True}
        await self._log(Tag.WAITING, words, meta, self._key(approval, "requested"))

    async def _resolved(self, approval: Approval) -> None:
        about = {"state": str(approval.state), "by": approval.by, "note": approval.note}
        await self._audit("approval_resolved", approval, "resolved", **about)
        failpoints.hit("approval.audited")
        if approval.by == By.POLICY and approval.state is State.APPROVED:
            return  # what the rules allow is on the audit log; the agent's own events tell the rest
        words = f"{approval.state}: {approval.request.action}" + (
            f" ({approval.note})" if approval.note else ""
        )
        meta = {**self._about(approval), **about, "approved": approval.state is State.APPROVED}
        await self._log(Tag.WAITING, words, meta, self._key(approval, "resolved"))

    def _key(self, approval: Approval, stage: str) -> str:
        return f"approval:{approval.id}:{stage}"

    def _about(self, approval: Approval) -> dict[str, Any]:
        request = approval.request
        return {
            "approvalId": approval.id,
            "sessionId": request.session_id,
            "provider": request.provider,
            "action": request.action,
        }

    async def _audit(self, name: str, approval: Approval, stage: str, **more: str) -> None:
        data = self.scrub({**self._about(approval), **{key: text for key, text in more.items() if text}})
        await insist(self.audit, AuditAppend([AuditEntry(name, data, key=self._key(approval, stage))]))

    async def _log(self, tag: Tag, words: str, meta: dict[str, Any], key: str) -> None:
        known = {name: value for name, value in meta.items() if value not in ("", None)}
        at_ms = int(self.clock() * 1000)
        event = NewEvent(
            str(tag), self.scrub(words), self.scrub(known), at_ms, dispatch_id=key, offset=0 if key else -1
        )
        await insist(self.events, EventAppend([event]))
