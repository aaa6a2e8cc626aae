"""What was allowed for the rest of a session, as long as this screen is open.

Owns: which requests are just the same as one that was allowed, and their answers.
Must not: allow anything that differs from what the user saw in a single letter, or outlive the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from hub.tui.daemon import Daemon

if TYPE_CHECKING:
    from hub.api.approvals import Approval


@attrs.define
class Always:
    """The requests that were allowed with Always."""

    _seen: list[tuple[Any, ...]] = attrs.field(factory=list)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._seen)

    def add(self, one: Approval) -> None:
        """From here on, this again in its session is allowed."""
        self._seen.append(_what(one))

    def covers(self, one: Approval) -> bool:
        """Whether the user has seen and allowed just this."""
        return _what(one) in self._seen

    async def answer(self, daemon: Daemon) -> list[Approval]:
        """Allow what is covered; returns what was allowed."""
        from hub.api.approvals import Approval  # noqa: PLC0415  # after the first paint

        found = [one for one in await daemon.get(list[Approval], "/api/approvals") if self.covers(one)]
        for one in found:
            note = "allowed for this session, in hub tui"
            await daemon.post(f"/api/approvals/{one.id}", {"approved": True, "note": note})
        return found


def _what(one: Approval) -> tuple[Any, ...]:
    return one.session_id, one.kind, one.provider, one.account, one.tool, one.action, one.context
