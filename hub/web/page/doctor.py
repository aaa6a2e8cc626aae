"""Doctor: what the daemon itself can tell of its health, a line each.

Owns: which of its answers make a finding.
Must not: run a program; `hub doctor` does, and looks further.
Tests: tests/hub/web/page/test_doctor.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import attrs

from hub.api.base import Nothing
from hub.api.graph import Graph
from hub.api.health import Health
from hub.api.instructions import Instruction
from hub.api.observability import AuditHead, Breaker, TreeNode
from hub.api.providers import ProviderStatus
from hub.api.trust import Trusted
from hub.domain.breaker import BreakerState
from hub.domain.routing import Availability
from hub.domain.text.figures import counted
from hub.web.page.ask import Ask, Failed, together
from hub.web.page.view import View

T = TypeVar("T")


@attrs.frozen
class DoctorFinding:
    """The result of one look."""

    what: str
    ok: bool
    detail: str
    hint: str = ""
    page: str = ""
    """Which page has more."""


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        health = each(lambda: ask(Health, "/api/health"))
        trust = each(lambda: ask.part(Trusted, "/api/trust"))
        audit = each(lambda: ask.part(AuditHead, "/api/audit/head"))
        index = each(lambda: ask.part(Graph, "/api/graph"))
        tree = each(lambda: ask.part(TreeNode, "/api/system/tree"))
        breakers = each(lambda: ask.part(list[Breaker], "/api/circuit"))
        providers = each(lambda: ask.part(list[ProviderStatus], "/api/providers"))
        instructions = each(lambda: ask.part(list[Instruction], "/api/instructions"))
    found = findings(
        trust=trust.answer,
        audit=audit.answer,
        index=index.answer,
        tree=tree.answer,
        breakers=breakers.answer,
        providers=providers.answer,
    )
    return {"health": health.answer, "findings": found, "instructions": instructions.answer}


def findings(
    *,
    trust: Trusted | Failed,
    audit: AuditHead | Failed,
    index: Graph | Failed,
    tree: TreeNode | Failed,
    breakers: list[Breaker] | Failed,
    providers: list[ProviderStatus] | Failed,
) -> list[DoctorFinding]:
    """Each look, also at what could not be had."""
    return [
        _found("Trust", trust, _trust),
        _found("Audit log", audit, _audit),
        _found("Index of the code", index, _index),
        _found("Parts of the daemon", tree, _tree),
        _found("Failing accounts", breakers, _circuits),
        _found("Agents", providers, _agents),
    ]


def _found(what: str, part: T | Failed, look: Callable[[str, T], DoctorFinding]) -> DoctorFinding:
    if isinstance(part, Failed):
        return DoctorFinding(what, ok=False, detail=part.detail, hint=part.hint)
    return look(what, part)


def _trust(what: str, part: Trusted) -> DoctorFinding:
    hint = "See it, and say yes: hub trust"
    return DoctorFinding(what, part.trusted, part.state.replace("_", " "), hint, "trust")


def _audit(what: str, part: AuditHead) -> DoctorFinding:
    return DoctorFinding(
        what, ok=True, detail=f"{counted(part.seq + 1, 'record')}; check them: hub audit verify"
    )


def _index(what: str, part: Graph) -> DoctorFinding:
    detail = part.scan.error or f"{part.state.value}, {counted(part.files, 'file')}"
    return DoctorFinding(what, not part.scan.error, detail, "Bring it up to date.", "graph")


def _tree(what: str, part: TreeNode) -> DoctorFinding:
    again = [node.path for node in _nodes(part) if node.restarts]
    detail = f"restarted: {', '.join(again)}" if again else "none was restarted"
    return DoctorFinding(what, not again, detail, "Why is in the daemon's log: hub logs", "tree")


def _nodes(node: TreeNode) -> Iterator[TreeNode]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _circuits(what: str, part: list[Breaker]) -> DoctorFinding:
    shut = [one.name for one in part if one.state is not BreakerState.CLOSED]
    detail = f"left alone for a while: {', '.join(shut)}" if shut else "none"
    return DoctorFinding(what, not shut, detail, "Each is tried again by itself.", "providers")


def _agents(what: str, part: list[ProviderStatus]) -> DoctorFinding:
    """Of those that could be chosen, also where hub cannot see a login."""
    able = [one.display_name for one in part if one.status in (Availability.ACTIVE, Availability.STANDBY)]
    spent = [one.display_name for one in part if one.status is Availability.EXHAUSTED]
    told = [f"{word}: {', '.join(names)}" for word, names in (("ready", able), ("used up", spent)) if names]
    hint = "Wait for the reset, or install another one." if spent else "Install one, or log in."
    return DoctorFinding(what, bool(able), "; ".join(told) or "none can work here yet", hint, "providers")


VIEW = View(title="Doctor", show=show)
