"""The questions for permission that an editor shows.

Owns: that each is asked once, and put away when somebody has answered it elsewhere.
Must not: decide, or remember an answer: the daemon does.
Tests: tests/hub/acp/test_conversation.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Protocol

import attrs
import trio

from hub.acp.daemon import ProjectDaemon
from hub.acp.permissions import ALWAYS, REJECT, chosen, question
from hub.api.approvals import Approval, Resolution, Resolved
from hub.errors import HubError
from hub.wire.frames import JsonObject, RefusedError


class EditorSide(Protocol):
    """The editor's side of the connection."""

    async def tell(self, method: str, params: JsonObject, /) -> None:
        """Send a notification."""

    async def ask(self, method: str, params: JsonObject, /) -> JsonObject:
        """Send a request; its result."""


@attrs.define
class Asking:
    """Those of one conversation.

    Args:
        conversation: Its id.
        daemon: The project's.
        editor: Who is asked.
        tree_of: Where the agents of a session work.
    """

    conversation: str
    daemon: ProjectDaemon
    editor: EditorSide
    tree_of: Callable[[str], PurePath]
    _shown: dict[str, trio.CancelScope] = attrs.field(factory=dict)
    """By approval."""

    async def ask(self, number: str) -> None:
        """Ask the user; whoever answers first, here or elsewhere, has answered."""
        if number in self._shown:
            return
        with trio.CancelScope() as scope:
            self._shown[number] = scope
            try:
                await self._ask(number)
            except (HubError, RefusedError):
                return  # answered elsewhere, or the editor cannot ask: it waits, and every other face shows it
            finally:
                del self._shown[number]

    def settled(self, number: str) -> None:
        """It has its answer, or needs none any more."""
        if (scope := self._shown.get(number)) is not None:
            scope.cancel()

    def close(self) -> None:
        """Put every question away. They still wait."""
        for scope in self._shown.values():
            scope.cancel()

    async def _ask(self, number: str) -> None:
        waiting = await self.daemon.get(list[Approval], "/api/approvals")
        found = next((one for one in waiting if one.id == number), None)
        if found is None:
            return
        asked = question(found, self.tree_of(found.session_id))
        said = await self.editor.ask("session/request_permission", {"sessionId": self.conversation, **asked})
        if option := chosen(said):
            answer = Resolution(id=number, approved=option != REJECT, always=option == ALWAYS)
            await self.daemon.insist(Resolved, "/api/approvals/{id}", answer)
