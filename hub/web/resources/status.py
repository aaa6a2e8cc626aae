"""`GET /api/status`.

Owns: the routes, and what is done besides one call.
Must not: compute any of it.
"""

from __future__ import annotations

import contextlib

import attrs
import trio

from hub.api.session import Which
from hub.api.status import Status
from hub.errors import Code, HubError
from hub.messages.knowledge import GetGraphNodes
from hub.messages.session import GetStatus
from hub.web.context import Context
from hub.web.route import get
from supervisors import ActorDied

_BRIEFLY = 0.5
_WHICH = frozenset({Code.NOT_FOUND, Code.WHICH_SESSION})


async def status(context: Context, which: Which) -> Status:
    """The graph's size is no reason to have no status."""
    found = await context.call(GetStatus(which.session_id))
    with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
        return attrs.evolve(found, graph_nodes=await context.call(GetGraphNodes(), timeout=_BRIEFLY))
    return found


ROUTES = (get("/api/status", "What the daemon is doing.", status, codes=_WHICH),)
