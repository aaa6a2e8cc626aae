"""`GET /api/status`.

Owns: the routes, and what is done besides one call.
Must not: compute any of it.
"""

from __future__ import annotations

import contextlib

import trio

from hub.api.base import Nothing
from hub.api.status import Status
from hub.domain.jsonvalue import JsonObject
from hub.errors import HubError
from hub.messages import GetGraphNodes, GetStatus
from hub.web.context import Context
from hub.web.route import get
from supervisors import ActorDied

_BRIEFLY = 0.5


async def status(context: Context, _: Nothing) -> JsonObject:
    """The graph's size is no reason to have no status."""
    found = await context.call(GetStatus())
    with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
        found["graphNodes"] = await context.call(GetGraphNodes(), timeout=_BRIEFLY)
    return found


ROUTES = (get("/api/status", "What the daemon is doing.", status, answer=Status),)
