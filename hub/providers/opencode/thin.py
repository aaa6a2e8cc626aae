"""Which of the server's events are worth a line, and how much of each.

Owns: the kinds that are kept, the pace at which a running tool is told again, the cut of what is very long.
Must not: change what an event says, or be needed for the fold's determinism (only kept lines are ever seen).

The server tells a running tool's whole output again with every piece of it, plays its own start-up as dozens of
events, and says every ten seconds that it lives, which is no sign that the *agent* does.
"""

from __future__ import annotations

_KEPT = ("session.", "message.", "permission.", "question.", "todo.")
_DROPPED = frozenset({"session.diff", "session.updated"})
_DRAFTS = (".v2.", ".next.")
"""The same told a second time, in forms that are not settled."""
AGAIN = 5.0
"""Seconds between two tellings of a tool that still runs."""
LONG_LINE = 262_144
LONG_TEXT = 32_768
_DEPTH = 12


class Thinner:
    """Remembers which running tools were told when."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}

    def keep(self, event: object, size: int, now: float) -> dict[str, object] | None:
        """The event as it should be written; None when it should not.

        Args:
            event: The decoded event.
            size: Its length as it came, in bytes.
            now: Seconds on any clock that does not go back.
        """
        if not isinstance(event, dict) or not _wanted(event.get("type")):
            return None
        if event["type"] == "message.part.updated" and not self._part(event, now):
            return None
        return event if size <= LONG_LINE else {name: shorten(inner) for name, inner in event.items()}

    def _part(self, event: dict[str, object], now: float) -> bool:
        properties = event.get("properties")
        part = properties.get("part") if isinstance(properties, dict) else None
        state = part.get("state") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(state, dict):
            return True
        key = str(part.get("id"))
        if state.get("status") != "running":
            self._told.pop(key, None)
            return True
        if now - self._told.get(key, now - AGAIN) < AGAIN:
            return False
        self._told[key] = now
        state.pop("metadata", None)
        return True


def _wanted(kind: object) -> bool:
    if not isinstance(kind, str) or kind in _DROPPED or any(draft in kind for draft in _DRAFTS):
        return False
    return kind.startswith(_KEPT)


def shorten(value: object, depth: int = _DEPTH) -> object:
    """The value with its long texts cut; nothing from deeper than any real event."""
    if isinstance(value, str):
        return value if len(value) <= LONG_TEXT else f"{value[:LONG_TEXT]}… [{len(value)} characters]"
    if depth == 0 and isinstance(value, (dict, list)):
        return None
    if isinstance(value, dict):
        return {name: shorten(inner, depth - 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [shorten(inner, depth - 1) for inner in value]
    return value
