"""An event's strings, wherever they stand, hold nothing a terminal acts on."""

from hub.domain.event import Event, EventType
from hub.domain.text.plain import plain, plain_value


def test_every_string_of_an_event_is_cleaned():
    """Content, values at any depth, and the keys of what an agent sent."""
    event = Event(
        EventType.TOOL_USE,
        "\x1b[31mred\x1b[0m",
        {"path": "a\x1b]0;title\x07b", "input": {"k\x00ey": ["x\x9b1my", 7, None]}, "isError": False},
    )
    found = plain(event)
    assert found.content == "red"
    assert found.meta == {"path": "ab", "input": {"key": ["xy", 7, None]}, "isError": False}


def test_of_what_a_person_is_asked_for_nothing_is_taken_away():
    """A shell runs what a terminal hides: rules and people see all of it."""
    meta = {
        "approvalId": "1",
        "command": "true;\x1b]0; rm x\nls",
        "input": {"command": "\u200b"},
        "title": "\x1b[1ma",
    }
    assert plain(Event(EventType.WAITING, "\x1b[1ma", meta)).meta == {
        "approvalId": "1",
        "command": "true;[U+001B]]0; rm x\nls",
        "input": {"command": "[U+200B]"},
        "title": "a",
    }


def test_a_clean_event_is_left_as_it_is():
    """Nothing is lost of ordinary text: newlines, tabs and every script stay."""
    event = Event(EventType.TEXT, "one\ttwo\n二 ü", {"path": "src/ä b.py", "n": 3})
    assert plain(event) == event


def test_a_value_keeps_its_shape():
    assert plain_value({"a\x00": ["\x1b[1mb", 1, None]}) == {"a": ["b", 1, None]}
