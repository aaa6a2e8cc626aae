"""`GET /api/health` and `GET /`: the answers the web layer gives without asking anyone.

Owns: the shapes of these bodies and answers.
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


@attrs.frozen(kw_only=True)
class Index:
    """Where to find what."""

    name: str
    version: str
    openapi: str
    status: str
    events: str
    stream: str
