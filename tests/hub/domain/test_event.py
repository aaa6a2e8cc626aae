"""The wire forms of events: what the specification calls {Type, Content, Meta} and {id, ts, tag, msg}."""

import pytest

from hub.domain.event import TAG_OF, Event, EventType, Record, Tag, answers


def test_an_agents_event_has_the_members_of_the_specification():
    event = Event(EventType.TOOL_USE, "ls", {"tool": "Bash"})
    assert event.to_json() == {"Type": "tool_use", "Content": "ls", "Meta": {"tool": "Bash"}}


@pytest.mark.parametrize("kind", EventType)
def test_every_type_enters_the_log_under_a_tag(kind):
    assert Event(kind, "").tag is TAG_OF[kind]
    assert TAG_OF[kind] in Tag


def test_a_record_without_meta_has_the_four_members_and_no_more():
    assert Record(1, "04:58:26.123", "text", "hi").to_json() == {
        "id": 1,
        "ts": "04:58:26.123",
        "tag": "text",
        "msg": "hi",
    }


def test_a_record_with_meta_carries_it():
    assert Record(2, "00:00:00.000", "quota", "", {"used": 930}).to_json()["meta"] == {"used": 930}


@pytest.mark.parametrize(
    ("kind", "meta", "shown"),
    [
        (EventType.TEXT, {}, True),
        (EventType.THINKING, {}, True),
        (EventType.TOOL_USE, {}, True),
        (EventType.TOOL_RESULT, {}, True),
        (EventType.USAGE, {"tokensOut": 3}, True),
        (EventType.USAGE, {"tokensOut": 0}, False),
        (EventType.WAITING, {"needsInput": True}, True),
        (EventType.WAITING, {"approvalId": "a"}, True),
        (EventType.WAITING, {"code": "no_space"}, False),
        (EventType.RESULT, {"isError": False}, True),
        (EventType.RESULT, {"isError": True}, False),
        (EventType.RESULT, {"interrupted": True}, False),
        (EventType.SYSTEM, {"plan": ["x"]}, True),
        (EventType.SYSTEM, {"model": "m"}, False),
        (EventType.ERROR, {"failure": "auth"}, False),
        (EventType.QUOTA, {"used": 1}, False),
        (EventType.RETRY, {}, False),
    ],
)
def test_a_heartbeat_is_an_answer_of_the_model(kind, meta, shown):
    """`Not logged in` was one, and so was the program's own greeting."""
    assert answers(Event(kind, "x", meta)) is shown
