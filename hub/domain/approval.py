"""Requests that wait for a person's word: what is asked, and how it ends.

Owns: the request, its states, and what is kept of one.
Must not: judge (`hub.domain.permission.rules` does), ask anybody, look at a clock, or know an agent's protocol.

A request is decided once. Nobody's answer within its rule's `timeout` is a no.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal

import attrs

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta, only
from hub.domain.missing import invalid_field
from hub.domain.text.safe import clip
from hub.errors import Code, HubError

_ACTION = 4_096
Severity = Literal["info", "warn", "danger"]
"""How grave a request for a person's word is shown to be."""
MAX_SUBJECT = 65_536
"""Longer ones were cut on their way, and what is not seen is not allowed."""


class Action(StrEnum):
    """What is asked about."""

    TOOL = "tool"
    """An agent wants to use one of its tools."""
    START = "start"
    """An agent is to be started with a task: by a run, or as a pipeline's node."""
    HANDOFF = "handoff"
    """The work is to go to another account or another vendor's agent."""
    BUDGET = "budget"
    """A session has used up what it may: it is asked whether it goes on. No rule is about it; a person decides."""


class ApprovalState(StrEnum):
    """Where a request stands. All but the first are final."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    """Nobody waits for the answer any more: the agent ended, or the session did."""


class By(StrEnum):
    """Who decided."""

    USER = "user"
    POLICY = "policy"
    TIMEOUT = "timeout"
    HUB = "hub"


@attrs.frozen
class PermissionRequest:
    """One thing that somebody wants to do. Every text is redacted."""

    id: str
    """Derived from what is asked, so that the same request is the same however often it is told."""
    kind: Action
    session_id: str
    provider: str
    """Whose tool it is; else who is to start, or to take over."""
    account: str = ""
    dispatch_id: str = ""
    """The run of the agent that asks; "" when hub itself does."""
    native_id: str = ""
    """The agent's own id of its request."""
    tool: str = ""
    subject: str = ""
    """The command or the path that the tool is used on; for hub's own actions who is meant, `provider/account`."""
    said: str = ""
    """The agent's own words."""
    context: EventMeta = attrs.field(factory=EventMeta)
    """What else is known: `input`, `path`, `paths` of a change to several files, `command`; JSON values.
    `cut`: not all of that is there. `toolId`: the tool call that it is about.

    For the rules alone: `cwd`, where the command runs; `texts`, what else the tool is given; `within`, folders whose files
    it reads; `unseen`, that there is more which is not told; `named`, the members of `input` that tell two uses of the tool
    apart.
    """
    folder: str = ""
    """Where the agent works: its names of files are relative to that."""

    @property
    def action(self) -> str:
        """What is asked, in one line for people."""
        match self.kind:
            case Action.START:
                return f"start {self.subject}"
            case Action.HANDOFF:
                return f"hand the work to {self.subject}"
            case Action.BUDGET:
                return f"go on with {self.subject}: {self.said}"
        words = f"{self.tool}: {self.subject}" if self.tool and self.subject else self.tool or self.subject
        return clip(words or self.said or "use a tool", _ACTION)


@attrs.frozen
class RuleVerdict:
    """What the rules say to a request."""

    decision: Literal["ask", "allow", "deny"]
    severity: Severity = "warn"
    reason: str = ""
    timeout: float | None = None
    """Seconds after which nobody's answer is a no; None = it waits."""


@attrs.frozen
class ApprovalRecord:
    """A request and how it stands."""

    request: PermissionRequest
    severity: Severity
    reason: str
    created_ms: int
    expires_ms: int = 0
    """Epoch milliseconds; 0 = it waits for ever."""
    state: ApprovalState = ApprovalState.PENDING
    note: str = ""
    """The user's words, not redacted: they are for the agent."""
    by: str = ""
    told: bool = False
    """Whether the decision is on the audit log: nobody hears of it before."""
    always: str = ""
    """The scope in which the user's yes goes on holding, for the rest of the session; "" = it holds once."""

    @property
    def id(self) -> str:
        """The request's id."""
        return self.request.id

    @property
    def pending(self) -> bool:
        """Whether it waits for an answer."""
        return self.state is ApprovalState.PENDING


_GIVEN = ("command", "path", "paths", "input", "cwd", "texts", "within", "unseen", "named", "cut", "toolId")
_SHOWN = ("command", "path", "paths", "input", "cut")
CUT = "Not all of it is shown: what the tool is given is longer than hub keeps."
"""What every face says of a request with `cut`."""
LAPSE = "denied at {} unless it is answered before"
"""What every face says of one that does not wait for ever."""


def shown(request: PermissionRequest) -> EventMeta:
    """What of a request's context a person sees."""
    return only(request.context, _SHOWN)


def asked(
    event: Event, *, session_id: str, dispatch_id: str, provider: str, account: str, folder: str = ""
) -> PermissionRequest | None:
    """The request for permission in an agent's event; None in any other.

    A question has `needsInput`, and is answered by a reply.
    """
    meta = event.meta
    native = meta.get("approvalId")
    if event.type is not EventType.WAITING or native is None or meta.get("needsInput"):
        return None
    subject = meta.get("command") or meta.get("path") or next(iter(meta.get("texts") or ()), "")
    return PermissionRequest(
        id=request_id(dispatch_id, native),
        kind=Action.TOOL,
        session_id=session_id,
        provider=provider,
        account=account,
        dispatch_id=dispatch_id,
        native_id=native,
        tool=meta.get("tool", ""),
        subject=clip(subject, MAX_SUBJECT),
        said=clip(event.content, _ACTION),
        context=only(meta, _GIVEN),
        folder=folder,
    )


def own(
    kind: Action, *, session_id: str, occasion: str, provider: str, account: str, said: str = ""
) -> PermissionRequest:
    """What hub itself asks before an agent starts or goes on; `occasion` tells one such time from another."""
    return PermissionRequest(
        id=request_id(session_id, f"{kind}:{occasion}:{provider}/{account}"),
        kind=kind,
        session_id=session_id,
        provider=provider,
        account=account,
        subject=f"{provider}/{account}",
        said=said,
    )


def request_id(owner: str, what: str) -> str:
    """The id of a request: short, the same every time, fit for a path."""
    return "a-" + hashlib.sha256(f"{owner}\0{what}".encode()).hexdigest()[:12]


def raised(request: PermissionRequest, verdict: RuleVerdict, now: float) -> ApprovalRecord:
    """The record of a request as it begins: already decided where a rule decides."""
    at = int(now * 1000)
    reason = verdict.reason or request.said or f"{request.provider} asks"
    expires = at + int(verdict.timeout * 1000) if verdict.timeout is not None else 0
    found = ApprovalRecord(request, verdict.severity, reason, at, expires)
    if verdict.decision == "ask":
        return found
    state = ApprovalState.APPROVED if verdict.decision == "allow" else ApprovalState.DENIED
    return attrs.evolve(found, state=state, by=By.POLICY, note=verdict.reason, expires_ms=0)


def decided(approval: ApprovalRecord, state: ApprovalState, by: By, note: str) -> ApprovalRecord:
    """The same with its answer.

    Raises:
        HubError: `approval_resolved`; it has one already.
    """
    if not approval.pending:
        raise HubError(Code.APPROVAL_RESOLVED, _HOW[approval.state].format(by=approval.by))
    return attrs.evolve(approval, state=state, by=by, note=note)


_HOW = {
    ApprovalState.APPROVED: "The request was approved already (by {by}).",
    ApprovalState.DENIED: "The request was denied already (by {by}).",
    ApprovalState.WITHDRAWN: "Nobody waits for the answer any more: the agent or its session has ended.",
}


def scope(request: PermissionRequest) -> str:
    """What a yes for the rest of the session covers: the same tool on the very same command or path, else given the same.

    What is written and what is only said of the call may differ. It is made of what is redacted: no secret is in the hash.

    "" where that cannot be said: there is more than is told, or nothing tells two uses of the tool apart.
    """
    if request.kind is not Action.TOOL or not request.subject or request.context.get("unseen"):
        return ""
    if request.context.get("cut") or len(request.subject) >= MAX_SUBJECT:
        return ""
    paths = request.context.get("paths") or []
    given = request.context.get("input")
    told = given if isinstance(given, Mapping) else {}
    named = request.context.get("named")
    names = named if isinstance(named, list) else ()
    drawn = json.dumps([[name, told.get(name)] for name in names], sort_keys=True)
    words = [request.tool, request.subject, request.context.get("cwd", ""), drawn, *paths]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def lasting(approval: ApprovalRecord) -> ApprovalRecord:
    """The same, with a yes that holds for the rest of the session.

    Raises:
        HubError: `invalid`; what it would cover cannot be said.
    """
    covered = scope(approval.request)
    if not covered:
        detail = "This can only be allowed once: it does not say exactly what would be allowed."
        raise invalid_field("always", detail, f"Run: hub approve {approval.id}")
    return attrs.evolve(approval, always=covered)


def allowed_before(approvals: Iterable[ApprovalRecord], request: PermissionRequest) -> bool:
    """Whether the user has said yes to this for the rest of its session."""
    covered = scope(request)
    return bool(covered) and any(
        one.always == covered
        and one.state is ApprovalState.APPROVED
        and one.request.session_id == request.session_id
        for one in approvals
    )


def overdue(approvals: Iterable[ApprovalRecord], now: float) -> list[ApprovalRecord]:
    """The pending ones whose time is over."""
    return [one for one in approvals if one.pending and one.expires_ms and one.expires_ms <= now * 1000]


def next_deadline(approvals: Iterable[ApprovalRecord]) -> float | None:
    """Epoch seconds at which the next pending one's time is over; None when none has a limit."""
    times = [one.expires_ms for one in approvals if one.pending and one.expires_ms]
    return min(times) / 1000 if times else None


def spare(approval: ApprovalRecord) -> ApprovalRecord:
    """What is kept of a request that has been decided and told: enough to give the same answer again."""
    request = attrs.evolve(approval.request, said="", subject="", context={})
    return attrs.evolve(approval, request=request, reason="", told=True)


def history(approval: ApprovalRecord, request: PermissionRequest) -> bool:
    """Whether no agent can ask for this decision again, now that `request` is there."""
    mine = approval.request
    if not approval.told or (approval.always and mine.session_id == request.session_id):
        return False
    another_run = mine.kind is request.kind is Action.TOOL and mine.dispatch_id != request.dispatch_id
    return another_run or mine.session_id != request.session_id
