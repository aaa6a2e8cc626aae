"""Events out of pieces, and over the border between two messages."""

from __future__ import annotations

import re

import pytest

from hub.domain.event import Event, EventType
from hub.domain.redaction.events import EventRedactor
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.redaction.span import Span

KEY = "hunter2hunter2"
MARKED = r"\[REDACTED:known:[0-9a-f]{8}\]"


def redactor() -> EventRedactor:
    return EventRedactor(Redactor(KnownSecrets([KEY]), b"installation"))


def said(*events: Event) -> list[tuple[EventType, str]]:
    red = redactor()
    out = [one for event in events for one in red.feed(event)] + red.flush()
    return [(event.type, event.content) for event in out if event.content]


def test_the_rest_of_a_key_in_the_next_message_is_hidden_and_marked():
    """Both halves were shown: neither is a key, and of the first one less than eight letters."""
    [_, (_, two)] = said(Event(EventType.TEXT, "it is hunter"), Event(EventType.TEXT, "2hunter2, see"))
    assert re.fullmatch(f"{MARKED}, see", two)


def test_the_message_before_is_the_one_of_its_kind_and_the_one_before_of_any():
    one, tool, two = Event(EventType.TEXT, "hunter2"), Event(EventType.TOOL_USE, "ls -l"), "hunter2 b"
    assert said(one, tool, Event(EventType.TEXT, two))[-1][1].startswith("[REDACTED:")
    assert said(tool, one, Event(EventType.TOOL_RESULT, two))[-1][1].startswith("[REDACTED:")
    assert said(one, tool, Event(EventType.TOOL_RESULT, two))[-1][1] == two


def test_an_empty_or_blank_message_between_them_is_no_border():
    blank = Event(EventType.TEXT, " \n"), Event(EventType.TEXT, "")
    assert said(Event(EventType.TEXT, "a hunter2\n"), *blank, Event(EventType.TEXT, "hunter2 b"))[-1][
        1
    ].endswith("] b")


class Counting(KnownSecrets):
    """Counts the letters that are searched."""

    letters = 0

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        self.letters += len(text)
        return super().scan(text, lo, final=final)


def test_a_message_is_searched_once_and_of_the_one_before_only_what_a_key_may_have_begun():
    """Two thousand letters of what was said before, and the message itself a second time, were half of a line's cost."""
    known = Counting([KEY])
    red, line = EventRedactor(Redactor(known, b"installation")), "the tests pass " * 10 + "hu"
    for _ in range(20):
        red.feed(Event(EventType.TEXT, line))
    known.letters = 0
    red.feed(Event(EventType.TEXT, line))
    assert known.letters <= len(line) + 20


@pytest.mark.parametrize("flag", ["more", "delta"])
def test_a_text_that_goes_on_is_one_stream_and_its_end_comes_with_its_last_piece(flag):
    red, more = redactor(), {flag: True}
    pieces = [Event(EventType.TEXT, text, more) for text in ("a hunter2", "hunter2")]
    events = [*pieces, Event(EventType.TEXT, " b", more if flag == "delta" else {})]
    out = [one for event in events for one in red.feed(event)] + red.flush()
    assert re.fullmatch(f"a {MARKED} b", "".join(event.content for event in out))


@pytest.mark.parametrize("flag", ["more", "delta"])
def test_what_a_text_held_back_comes_before_an_event_of_another_kind_and_nothing_is_lost(flag):
    red, more = redactor(), {flag: True}
    said = [Event(EventType.TEXT, "say hunter2", more), Event(EventType.THINKING, "umm.", more)]
    out = [one for event in (*said, Event(EventType.TOOL_USE, "ls")) for one in red.feed(event)]
    assert [(event.type, event.content) for event in out] == [
        (EventType.TEXT, "say "),
        (EventType.TEXT, "hunter2"),
        (EventType.THINKING, "umm."),
        (EventType.TOOL_USE, "ls"),
    ]
    assert [event.meta.get("delta", False) for event in out] == [flag == "delta"] * 3 + [False]
    assert "hunter2" not in red.text("hunter2hunter2")


def test_a_long_text_is_cut_after_it_was_searched_and_its_ends_are_kept():
    """A key at the cut was no key on either side of it."""
    for kind, most in ((EventType.TEXT, 65_536), (EventType.TOOL_RESULT, 16_384)):
        for before in range(len(KEY)):
            [(_, text)] = said(Event(kind, "x" * (most // 2 - before) + KEY + "y" * most))
            assert len(text) < most + 100
            assert "characters left out]" in text
            assert "hunter" not in text


def test_an_event_without_a_secret_is_the_same_object():
    event = Event(EventType.TEXT, "plain", {"plan": ["a"]})
    assert redactor().feed(event) == [event]
    assert redactor().text(f"a {KEY}") != f"a {KEY}"
