"""The record of the requests keeps what can be asked for again, and no more: it must not grow with every tool call."""

from __future__ import annotations

import attrs

from hub.actors.approvals.store import FORM, ApprovalStore
from hub.domain.approval import Action, ApprovalRecord, ApprovalState, PermissionRequest
from hub.io.records.store import RecordStore


def told(number: int, run: str) -> ApprovalRecord:
    request = PermissionRequest(f"a-{number:012x}", Action.TOOL, "s-1", "demo", dispatch_id=run, tool="run")
    return ApprovalRecord(request, "danger", "", 1, state=ApprovalState.APPROVED, told=True)


def test_a_new_request_drops_what_nobody_can_ask_for_again(tmp_path):
    store = ApprovalStore(RecordStore(tmp_path / "approvals.json", FORM))
    first, second, newer = told(1, "d-1"), told(2, "d-1"), told(3, "d-2")
    for approval in (first, second):
        store.keep(approval)
    store.keep(attrs.evolve(first, note="changed"))
    assert [one.id for one in store.all()] == [first.id, second.id]
    store.keep(newer)
    assert store.load() is None
    assert store.all() == [newer]
