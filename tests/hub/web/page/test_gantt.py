"""Which result belongs to which call."""

from hub.api.convert import structure
from hub.api.events import EventRecord
from hub.web.page.gantt import calls_of, gantt
from hub.web.page.stream import items


def event(number, tag, msg="m", **meta):
    at = f"2026-01-01T00:00:{number % 60:02}.000Z"
    told = {"id": number, "ts": at[11:23], "tag": tag, "msg": msg, "meta": {"at": at, **meta}}
    return structure(told, EventRecord)


def test_a_call_ends_with_its_own_result():
    shown = items(
        [
            event(1, "tool_use", "run a", toolId="a", tool="run"),
            event(2, "tool_use", "run b", toolId="b", tool="run"),
            event(3, "tool_result", toolId="b", isError=True),
            event(4, "text"),
        ]
    )
    calls = calls_of(shown)
    assert [(call.words, call.end is None, call.failed) for call in calls] == [
        ("run a", True, False),
        ("run b", False, True),
    ]
    assert "not ended" in gantt(calls)


def test_what_an_agent_puts_in_the_place_of_an_id_or_a_time_is_no_error():
    """A call with an odd id is one without an id; one without a time is in no picture."""
    odd = [
        event(1, "tool_use", "run", toolId={"x": 1}),
        event(2, "tool_use", at="soon"),
        event(3, "tool_use", at=7),
        event(4, "tool_result", toolId="none"),
    ]
    assert [call.words for call in calls_of(items(odd))] == ["run"]
    assert gantt([]) == ""
