"""Secrets out of what an agent says, event by event, although none of its events is a border for a secret.

Owns: which events are pieces of one text, what is held back between them, and the size to which a text is cut.
Must not: find secrets (`redactor` and its layers do), or know how an agent cuts what it says.

A text that comes in pieces (`delta`, or `more` for all but its last) is one stream: what may begin a secret is held back,
and comes with the next piece or before the next event that is none. A message is told when it ends. A known value that
goes on in the next message is hidden there: what a message ended with is remembered, of its own kind and of any. So no
reader who joins events, all of them or those of a kind, gets eight letters in a row of one.

A long text is cut after it was searched: else a secret at the cut would be none on either side.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.event import Event, EventType
from hub.domain.redaction.redactor import Redactor, StreamRedactor
from hub.domain.text.safe import cap

_CAPS: Mapping[EventType, int] = {EventType.TOOL_RESULT: 16_384}
_CAP = 65_536
_Stream = tuple[EventType, bool]
"""The kind of an event, and whether it is a copy for those who watch: a `delta`, whose text is told again as a whole."""


class EventRedactor:
    """Redacts the events of one agent, in their order."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._open: dict[_Stream, StreamRedactor] = {}
        self._ends: dict[_Stream, str] = {}
        """What the newest events of a kind began (`Redactor.begins`): a few letters at most, but in the midst of a value."""
        self._newest: dict[bool, str] = {}
        """The same of any kind."""

    def text(self, text: str) -> str:
        """A whole text redacted."""
        return self._redactor.text(text)

    def feed(self, event: Event) -> list[Event]:
        """The events that this one lets out: held-back text of a stream that it ends, then itself."""
        delta = event.meta.get("delta") is True
        of = event.type, delta
        goes_on = delta or event.meta.get("more") is True
        # A text's copy for those who watch, and the text itself, come side by side.
        before = self._flush(
            [one for one in self._open if one[0] is not event.type or (delta < one[1] and not goes_on)]
        )
        stream = self._open.pop(of, None) or self._redactor.stream(self._begun(of, event.content))
        content = stream.feed(event.content, final=not goes_on)
        if goes_on:
            self._open[of] = stream
        self._remember(of, event.content)
        meta = self._redactor.value(event.meta)
        content = cap(content, _CAPS.get(event.type, _CAP))
        if content != event.content or meta != event.meta:
            event = event.but(content, meta)
        return [*before, event]

    def flush(self) -> list[Event]:
        """The held-back ends of the streams, as pieces; to be called when the agent's run is over."""
        return self._flush(list(self._open))

    def _flush(self, ended: list[_Stream]) -> list[Event]:
        rests = [(kind, delta, self._open.pop((kind, delta)).flush()) for kind, delta in ended]
        return [Event(kind, rest, {"delta": True} if delta else {}) for kind, delta, rest in rests if rest]

    def _begun(self, of: _Stream, text: str) -> str:
        """What a text before began and this one goes on with, in a known value."""
        ends = {self._ends.get(of, ""), self._newest.get(of[1], "")}
        return self._redactor.begun(ends, text) if text else ""

    def _remember(self, of: _Stream, text: str) -> None:
        if text.strip():
            self._newest[of[1]] = self._ends[of] = self._redactor.begins(self._ends.get(of, "") + text)
