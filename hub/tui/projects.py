"""The user's other projects: their sessions beside this one's, and what is needed to go to one.

Owns: asking several daemons at once; one that does not answer has no sessions.
Must not: find out which projects there are; whoever starts the app knows that.
Tests: tests/hub/tui/test_projects.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import attrs

from hub.api.sessions import Session, Sessions
from hub.client.quick import Api
from hub.errors import HubError
from hub.tui.daemon import LocalDaemon


@attrs.frozen
class Project:
    """One project.

    Attributes:
        name: What it is called on the screen.
        root: Its folder: no two projects have the same.
        find: Where its daemon is.
        start: Starts one where none runs; None = that is not to be had.
    """

    name: str
    root: str
    find: Callable[[], Api]
    start: Callable[[], object] | None = None


async def sessions(projects: Iterable[Project]) -> list[tuple[Project, list[Session]]]:
    """Of each project its sessions, in the order of the projects."""
    asked = list(projects)
    return list(zip(asked, await asyncio.gather(*map(_sessions, asked)), strict=True))


async def _sessions(project: Project) -> list[Session]:
    try:
        return (await LocalDaemon(project.find).get(Sessions, "/api/sessions")).sessions
    except HubError:
        return []
