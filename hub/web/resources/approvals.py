"""Approvals: what waits for a person's word, and the answer.

Owns: the routes, and what is done besides one call.
Must not: decide whether a request may still be answered.
"""

from hub.api.approvals import Approval, Resolution, Resolved
from hub.errors import Code
from hub.messages.approvals import GetApprovals, ResolveApproval
from hub.web.context import WRITE, call
from hub.web.route import get, post

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
        call(lambda body: ResolveApproval(body.id, body.approved, body.note, body.always), WRITE),
        given=Resolution,
        answer=Resolved,
        codes=frozenset({Code.NOT_FOUND, Code.APPROVAL_RESOLVED, Code.INVALID}),
    ),
)
