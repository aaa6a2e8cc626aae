"""Whether the daemon listens, and where to find what.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Health:
    """The daemon listens."""

    ok: bool
    port: int
    version: str
    project: str
    """The root of the project that is served."""
    outdated: bool = False
    """Whether another hub was installed since this daemon began, of whatever version."""


@attrs.frozen(kw_only=True)
class Index:
    """Where to find what."""

    name: str
    version: str
    openapi: str
    status: str
    events: str
    stream: str
