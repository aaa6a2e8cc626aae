"""What a view is.

Owns: `View`, the value that every page's module makes one of.
Must not: know any one page.
Tests: tests/hub/web/page/test_mount.py
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from hub.api.base import Nothing
from hub.domain.event import Tag
from hub.web.page.ask import Ask

ALL = frozenset(Tag)
CHANGES = frozenset({Tag.SYSTEM, Tag.HANDOFF, Tag.WAITING, Tag.ERROR, Tag.QUOTA})
"""What changes the state of a session, and not only adds to its stream."""


@attrs.frozen(kw_only=True)
class View:
    """A page: its template has the page's name.

    Attributes:
        title: In the navigation, and of the document.
        show: What its template is filled with, by what the address gives.
        given: What the address may give: parameters of the path and of the query.
        tags: Events after which it may look otherwise; what waits for a word is on every page.
        every: Seconds after which it may look otherwise without one; 0: it is not looked at anew for that.
    """

    title: str
    show: Callable[[Ask, Any], Awaitable[dict[str, object]]]
    given: type = Nothing
    tags: frozenset[Tag] = CHANGES
    every: int = 0
