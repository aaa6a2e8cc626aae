"""`GET /api/health` and `GET /`: the answers the web layer gives without asking anyone.

Owns: the routes, and what is done besides one call.
Must not: call an actor; health tells that the daemon listens, `/api/status` tells how it is.
"""

from __future__ import annotations

import hub
from hub.api.base import Nothing
from hub.api.health import Health, Index
from hub.installed import replaced
from hub.web.context import Context
from hub.web.route import Route, get


def routes(port: int, project: str) -> tuple[Route, ...]:
    """The routes of a server that listens on `port`."""

    async def health(_: Context, __: Nothing) -> Health:
        return Health(ok=True, port=port, version=hub.__version__, project=project, outdated=replaced())

    return (
        get("/", "Where to find what.", index),
        get("/api/health", "Whether the daemon listens.", health),
    )


async def index(_: Context, __: Nothing) -> Index:
    """The ways in."""
    return Index(
        name="hub",
        version=hub.__version__,
        openapi="/openapi.json",
        status="/api/status",
        events="/ws",
        stream="/api/events/stream",
    )
