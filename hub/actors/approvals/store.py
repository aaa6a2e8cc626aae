"""The durable record of the requests: `.hub/approvals.json`.

Owns: that file. Every change of a request is in it before anybody sees the change.
Must not: decide anything, or tell anybody.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.api import approvals as api
from hub.domain import approval as record
from hub.domain.approval import ApprovalRecord, history, spare
from hub.domain.wallclock import iso
from hub.errors import HubError
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore, as_named


@attrs.frozen
class KeptApprovals:
    """The record."""

    approvals: tuple[ApprovalRecord, ...] = ()


FORM = RecordForm(
    KeptApprovals, "The approvals", version=2, older={1: lambda wire: as_named(wire, KeptApprovals)}
)


def approval_store(places: Places) -> RecordStore[KeptApprovals]:
    """Where they are kept."""
    return RecordStore(places.approvals, FORM)


@attrs.define
class ApprovalStore:
    """All that wait, and what was decided in the present run of the agent: it may be asked for again."""

    store: RecordStore[KeptApprovals]
    _kept: Mapping[str, ApprovalRecord] = attrs.field(factory=dict)

    def load(self) -> HubError | None:
        """Read the record back; why there is none although there is a file. What an agent asks, it asks again."""
        found, damage = self.store.load()
        self._kept = {approval.id: approval for approval in (found or KeptApprovals()).approvals}
        return damage

    def all(self) -> list[ApprovalRecord]:
        """Every request, oldest first."""
        return list(self._kept.values())

    def find(self, number: str) -> ApprovalRecord | None:
        """The request of that id."""
        return self._kept.get(number)

    def keep(self, approval: ApprovalRecord) -> None:
        """Keep a request as it stands now; durable when this returns. For a new one, what nobody can ask for any more goes.

        Raises:
            HubError: As `RecordStore.save`; nothing has changed.
        """
        kept = self._kept
        if approval.id not in kept:
            kept = {one.id: one for one in self.all() if not history(one, approval.request)}
        kept = {**kept, approval.id: approval}
        self.store.save(KeptApprovals(tuple(kept.values())), "approvals")
        self._kept = kept

    def told(self, approval: ApprovalRecord) -> None:
        """Remember that a decision was told. On the disk with the next write: to tell it again changes nothing."""
        self._kept = {**self._kept, approval.id: spare(approval)}


def shown(approval: ApprovalRecord) -> api.Approval:
    """How it is shown to whoever asks."""
    request = approval.request
    return api.Approval(
        id=approval.id,
        action=request.action,
        reason=approval.reason,
        severity=approval.severity,
        created_at=iso(approval.created_ms / 1000),
        expires_at=iso(approval.expires_ms / 1000) if approval.expires_ms else None,
        kind=request.kind,
        session_id=request.session_id,
        provider=request.provider,
        account=request.account,
        tool=request.tool,
        context=record.shown(request),
    )
