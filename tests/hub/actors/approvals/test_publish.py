"""What is told of a request, and in which order: the audit log first, at every stage."""

from __future__ import annotations

import attrs
import pytest

from hub.actors.approvals.actor import publish
from hub.actors.common.outbox import Outbox
from hub.domain.approval import Action, ApprovalState, By, PermissionRequest, RuleVerdict, decided, raised
from hub.errors import Code, HubError
from hub.messages.audit import AuditAppend


@attrs.define
class Log:
    """An actor that takes what it is given, in one list with the other."""

    name: str
    told: list[str]
    broken: bool = False

    async def call(self, message, *, timeout):
        if self.broken:
            raise HubError(Code.NO_SPACE)
        stage = (
            message.entries[0].event if isinstance(message, AuditAppend) else message.events[0].msg.split()[0]
        )
        self.told.append(f"{self.name} {stage}")


def made(**fields):
    request = PermissionRequest("a-1", Action.TOOL, "s", "claude", tool="Bash", subject="ls")
    return raised(request, RuleVerdict(**{"decision": "ask", **fields}), 1.0)


def outbox(told, *, audit_broken=False):
    return Outbox(Log("event", told), lambda: 1.0, Log("audit", told, audit_broken))


async def test_each_stage_is_on_the_audit_log_first():
    told: list[str] = []
    await publish(outbox(told), decided(made(), ApprovalState.APPROVED, By.USER, ""))
    assert told == [
        "audit approval_requested",
        "event approval",
        "audit approval_resolved",
        "event approved:",
    ]


@pytest.mark.parametrize(("decision", "then"), [("allow", []), ("deny", ["event denied:"])])
async def test_what_a_rule_decides_is_on_the_audit_log_first(decision, then):
    told: list[str] = []
    await publish(outbox(told), made(decision=decision))
    assert told == ["audit approval_resolved", *then]


async def test_what_the_audit_log_does_not_take_is_told_nowhere():
    told: list[str] = []
    with pytest.raises(HubError):
        await publish(outbox(told, audit_broken=True), made(decision="deny"))
    assert told == []
