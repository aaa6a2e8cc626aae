"""What the project would run, send or open, and whether its user has agreed.

Owns: what the route answers.
Must not: know a route.
Tests: tests/hub/web/resources/test_trust.py
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.domain.trust.settings import Does

State = Literal["not_needed", "trusted", "untrusted", "changed"]
Change = Literal["", "new", "changed"]


@attrs.frozen(kw_only=True)
class TrustItem:
    """One thing that needs the user's word."""

    does: Does
    key: Annotated[str, "Where it stands: `session.verify`, or `file:.mcp.json`."]
    text: Annotated[str, "What it would do, in one line. Redacted."]
    change: Annotated[Change, "Against what was agreed to before; nothing at a first time."]


@attrs.frozen(kw_only=True)
class Trusted:
    """What the project would do, and what its user has said to it."""

    project: str
    state: State
    trusted: bool
    digest: Annotated[str, "Of the whole set."]
    items: list[TrustItem]
    gone: Annotated[list[str], "Where there was something that was agreed to, and is nothing now."]
