"""The table of everything the API serves as plain requests.

Owns: the list of resources.
Must not: hold a route itself. A new route goes into its resource's `ROUTES`; a new resource is a new file
and one name here. The event streams are not plain requests; `stream` serves them.
"""

from __future__ import annotations

from hub.web.resources import (
    approvals,
    detect,
    events,
    graph,
    health,
    history,
    localmodel,
    metrics,
    observability,
    pipelines,
    profiles,
    providers,
    quota,
    results,
    session,
    status,
    trust,
    vision,
)
from hub.web.route import Route


def table(port: int, project: str = "") -> tuple[Route, ...]:
    """Every route of a server that listens on `port` for a project."""
    return (
        *health.routes(port, project),
        *status.ROUTES,
        *trust.ROUTES,
        *providers.ROUTES,
        *detect.ROUTES,
        *session.ROUTES,
        *results.ROUTES,
        *quota.ROUTES,
        *pipelines.ROUTES,
        *approvals.ROUTES,
        *profiles.ROUTES,
        *vision.ROUTES,
        *localmodel.ROUTES,
        *events.ROUTES,
        *graph.ROUTES,
        *history.ROUTES,
        *observability.ROUTES,
        *metrics.ROUTES,
    )
