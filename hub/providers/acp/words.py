"""What an agent says and thinks over ACP, out of the pieces in which it comes.

Owns: what was said and is not yet told, and in which pieces it is.
Must not: know the protocol, or look into a text.
"""

from __future__ import annotations

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta

_LONG = 8_192
"""A text is told in pieces of about this length, so that a long one does not look like silence."""


class RunWords:
    """The words of one run.

    Args:
        deltas: Whether each piece is told at once as well, for those who watch.
    """

    def __init__(self, *, deltas: bool) -> None:
        self._deltas = deltas
        self._kind = EventType.TEXT
        self._untold = ""
        self.last = ""
        """What was said last, as it was told."""

    def piece(self, kind: EventType, piece: str) -> list[Event]:
        """The events of a piece of what is said or thought."""
        events = self.flush() if kind is not self._kind else []
        self._kind = kind
        self._untold += piece
        if self._deltas and piece:
            events.append(Event(kind, piece, {"delta": True}))
        return events if len(self._untold) < _LONG else [*events, *self.flush({"more": True})]

    def flush(self, how: EventMeta | None = None) -> list[Event]:
        """The event of what is not told yet; of a part of a text, which part it is."""
        said, self._untold = self._untold, ""
        if not said.strip():
            return []
        if self._kind is EventType.TEXT:
            self.last = said.strip()
        return [Event(self._kind, said, how or {})]
