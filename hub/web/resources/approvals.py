"""Approvals: what waits for a person's word, and the answer.

Owns: the body these take and the shapes they answer.
Must not: decide whether a request may still be answered.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from hub.domain.config.model import Severity
from hub.errors import Code
from hub.messages import GetApprovals, ResolveApproval
from hub.web.context import WRITE, call
from hub.web.route import get, post
from hub.web.schema import Answer, Body, Done, Timestamp

MAX_NOTE = 10_000

ApprovalId = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$(?!\n)", description="An approval's id.")]


class Approval(Answer, frozen=True, kw_only=True):
    """One request that waits."""

    id: str
    action: str
    reason: str
    severity: Severity
    created_at: Timestamp
    expires_at: Annotated[
        str | None, Meta(description="When nobody's answer counts as a no; null: it waits for ever.")
    ]
    kind: Literal["tool", "start", "handoff"]
    session_id: str
    provider: str
    account: str
    tool: str
    context: Annotated[
        dict[str, Any], Meta(description="What the agent told: `command`, `path`, `input`. Redacted.")
    ]


class Resolution(Body, frozen=True, kw_only=True):
    """The answer."""

    id: ApprovalId
    approved: bool
    note: Annotated[
        str, Meta(max_length=MAX_NOTE, description="For the agent, where its protocol has room.")
    ] = ""


class Resolved(Done, frozen=True, kw_only=True):
    """The request, and what was said to it."""

    id: str
    approved: bool


ROUTES = (
    get(
        "/api/approvals",
        "What waits for a person's word, oldest first.",
        call(GetApprovals),
        answer=list[Approval],
    ),
    post(
        "/api/approvals/{id}",
        "Approve or deny a pending request.",
        call(lambda body: ResolveApproval(body.id, body.approved, body.note), WRITE),
        body=Resolution,
        answer=Resolved,
        codes=frozenset({Code.NOT_FOUND, Code.APPROVAL_RESOLVED}),
    ),
)
