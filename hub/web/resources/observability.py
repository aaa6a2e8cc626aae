"""What the daemon shows of itself: breakers, redactions, contract, audit head, supervision tree.

Owns: the routes, and what is done besides one call.
Must not: change anything.
"""

from __future__ import annotations

import attrs

from hub.api.base import Nothing
from hub.api.costs import Costs
from hub.api.observability import AuditHead, Breaker, Redactions, TreeNode
from hub.api.session import Which
from hub.domain.contract import Contract
from hub.errors import Code
from hub.messages.audit import GetAuditHead
from hub.messages.breakers import BreakerSnapshots
from hub.messages.outcomes import GetCosts
from hub.messages.session import GetContract, GetRedactions
from hub.web.context import WRITE, Context, call
from hub.web.route import get
from supervisors import NodeInfo


async def tree(context: Context, _: Nothing) -> TreeNode:
    """As it is at this moment."""
    return _node(context.snapshot())


def _node(found: NodeInfo) -> TreeNode:
    own = attrs.asdict(found, recurse=False)
    return TreeNode(**{**own, "children": [_node(child) for child in found.children]})


_WHICH = frozenset({Code.NOT_FOUND, Code.WHICH_SESSION})
ROUTES = (
    get("/api/circuit", "The circuit breakers.", call(BreakerSnapshots), answer=list[Breaker]),
    get(
        "/api/redactions",
        "How many secrets were scrubbed.",
        call(lambda which: GetRedactions(which.session_id)),
        given=Which,
        answer=Redactions,
        codes=_WHICH,
    ),
    get(
        "/api/contract",
        "The current continuation contract, verified.",
        call(lambda which: GetContract(which.session_id)),
        given=Which,
        answer=Contract,
        codes=_WHICH | {Code.CONTRACT_INVALID},
        foreign=True,
    ),
    get(
        "/api/costs",
        "What sessions have cost, by day and agent.",
        call(GetCosts, timeout=WRITE),
        answer=Costs,
    ),
    get("/api/audit/head", "The head of the audit chain.", call(GetAuditHead), answer=AuditHead),
    get("/api/system/tree", "The supervision tree.", tree),
)
