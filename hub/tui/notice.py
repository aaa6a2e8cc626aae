"""What the screen says for some seconds, made so that its end always comes.

Owns: how much time it has left.
Must not: know what is said.
Tests: tests/hub/tui/test_notice.py

Textual 8.2 shows what was said again on each screen that opens, with a timer for the time that is left. If that is over just
then, the timer looks for its next turn for ever: the screen stands still and takes a whole processor.
"""

from __future__ import annotations

from textual.notifications import Notification

_LEAST = 0.05
"""Seconds."""


class ScreenNotice(Notification):
    """A notification that a timer can be made of at any time."""

    @property
    def time_left(self) -> float:
        """Seconds, never none."""
        return max(super().time_left, _LEAST)

    @property
    def has_expired(self) -> bool:
        """Whether it is over."""
        return super().time_left <= 0
