"""Which path is which page.

Owns: the table of paths, and whether a request asks for a page at all.
Must not: import what a page is made with; most daemons never show one.
Tests: tests/hub/web/page/test_mount.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.web.guard import Scope

HOME = "/"
"""Also where the API says where to find what; a browser asks for HTML, a program does not."""
STATIC = "/static/"
PATHS: dict[str, str] = {
    "board": HOME,
    "session": "/session/<sessionId>",
    "approvals": "/approvals",
    "quota": "/quota",
    "pipelines": "/pipelines",
    "history": "/history",
    "detected": "/detected",
    "graph": "/graph",
    "providers": "/providers",
    "audit": "/audit",
    "events": "/events",
    "cost": "/cost",
    "tree": "/tree",
    "trust": "/trust",
    "doctor": "/doctor",
}
"""Each page's path by its name."""

_ALONE = {path: name for name, path in PATHS.items() if "<" not in path}
_SESSION = re.compile(PATHS["session"].replace("<sessionId>", "([^/]+)"))


@attrs.frozen
class FoundPage:
    """A page, and the parameters of its path."""

    page: str
    parameters: Mapping[str, str]


def page_of(scope: Scope) -> FoundPage | None:
    """The page that a request asks for."""
    if scope["path"] == HOME and not (scope["method"] in ("GET", "HEAD") and _wants_html(scope)):
        return None
    if name := _ALONE.get(scope["path"]):
        return FoundPage(name, {})
    if session := _SESSION.fullmatch(scope["path"]):
        return FoundPage("session", {"sessionId": session[1]})
    return None


def _wants_html(scope: Scope) -> bool:
    accepted = b",".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return b"text/html" in accepted.lower()
