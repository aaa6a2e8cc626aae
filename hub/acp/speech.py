"""What is said in a conversation, as it stands in the editor: pieces, paragraphs, and whose words they are.

Owns: that a text which came in pieces is not told again as a whole, and that two texts do not run into each other.
Must not: know a record.
Tests: tests/hub/acp/test_telling.py
"""

from __future__ import annotations

import attrs

from hub.domain.text.safe import clean
from hub.wire.frames import JsonObject

MESSAGE, THOUGHT, USER = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
_GAP = "\n\n"


@attrs.define
class Speech:
    """Editors put the chunks of a kind together as they come, until something else is told."""

    said: str = ""
    """What the agent said last."""
    _shown: str = ""
    """The kind that the next chunk would be put to; "" = something else was told."""
    _goes_on: bool = False
    """Whether the next text belongs to the one before."""
    _pieces: str = ""
    """What is told of a text that is not whole yet."""

    def piece(self, kind: str, words: str) -> JsonObject:
        """A part of a text that is told again when it is whole."""
        gap = self._gap(kind)
        self._pieces += words
        return chunk(kind, gap + words)

    def whole(self, kind: str, words: str, *, goes_on: bool = False) -> list[JsonObject]:
        """A text; of one that came in pieces what is left of it.

        Args:
            kind: Whose.
            words: All of it.
            goes_on: Whether the next one belongs to it.
        """
        told = self._pieces if words.startswith(self._pieces) else ""
        gap = "" if told else self._gap(kind)
        self._pieces, self._goes_on = "", goes_on
        if kind == MESSAGE:
            self.said = words
        rest = words[len(told) :]
        return [chunk(kind, gap + rest)] if rest else []

    def repeats(self, words: str) -> bool:
        """Whether this is what the agent said last."""
        return words.split() == self.said.split()

    def note(self, words: str) -> JsonObject:
        """Hub's own words: in a quote, so that nobody takes them for the agent's."""
        self.interrupted()
        quoted = "\n".join(f"> {line}".rstrip() for line in clean(words).splitlines())
        return chunk(MESSAGE, f"{_GAP}{quoted}{_GAP}")

    def interrupted(self) -> None:
        """Something else was told."""
        self._shown = ""

    def _gap(self, kind: str) -> str:
        begins = self._shown == kind and not self._goes_on and not self._pieces
        self._shown, self._goes_on = kind, False
        return _GAP if begins else ""


def chunk(kind: str, words: str) -> JsonObject:
    """The update of a text."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}}
