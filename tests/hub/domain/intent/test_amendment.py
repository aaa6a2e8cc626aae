"""What a store tells of calls that the stream has told: each once, of the event that it belongs to."""

from __future__ import annotations

from hub.domain.detection.intel import CallEnd
from hub.domain.event import EventType, Record
from hub.domain.intent.amendment import MAX_COMMANDS, Untold, amendments, summed

ALL = (Untold.PLAN, Untold.STATUS)


def ended(number: int, key: str, command: str = "", **meta) -> Record:
    """The end of a call, as the stream told it."""
    told = {
        "type": "tool_result",
        "tool": "t",
        "toolId": key,
        **({"command": command} if command else {}),
        **meta,
    }
    return Record(number, "", "tool_result", "completed", told)


def planned(key: str, **steps: bool) -> CallEnd:
    return CallEnd(key=key, plan=tuple(steps.items()))


def test_an_exit_status_is_told_of_the_calls_end():
    (event,) = amendments([ended(7, "k", "make")], [CallEnd(key="k", text="boom", exit_code=2)], ALL)
    assert (event.type, event.content) == (EventType.TOOL_RESULT, "boom")
    assert event.meta == {
        "tool": "t",
        "toolId": "k",
        "command": "make",
        "exitCode": 2,
        "isError": True,
        "amends": 7,
    }
    (event,) = amendments([ended(7, "k", "make")], [CallEnd(key="k", exit_code=0)], ALL)
    assert event.meta["isError"] is False


def test_what_the_stream_has_told_is_not_told_again():
    assert amendments([ended(7, "k", "make", exitCode=1)], [CallEnd(key="k", exit_code=1)], ALL) == ()


def test_what_neither_tells_is_not_told():
    """A call that the store does not have, one whose status it does not know, one without an id, one that is no command."""
    log = [ended(1, "a", "ls"), ended(2, "b", "ls -l"), ended(3, "", "pwd"), ended(4, "d")]
    known = [CallEnd(key="b"), CallEnd(key="", exit_code=1), CallEnd(key="d", exit_code=0)]
    assert amendments(log, known, ALL) == ()
    assert amendments([Record(1, "", "text", "k", {"toolId": "k"})], [planned("k", a=True)], ALL) == ()


def test_a_command_is_told_as_it_ended_last():
    log = [ended(1, "a", "make"), ended(2, "b", "ls"), ended(3, "c", "make")]
    known = [CallEnd(key=key, exit_code=0) for key in "abc"]
    assert [event.meta["amends"] for event in amendments(log, known, ALL)] == [2, 3]


def test_of_many_commands_the_newest_are_told():
    """No more than an intent has room for: the first is the newest once it has run again."""
    log = [ended(n, f"k{n}", f"make {n}") for n in range(1, MAX_COMMANDS + 2)]
    log.append(ended(len(log) + 1, "again", "make 1"))
    known = [CallEnd(key=f"k{n}", exit_code=0) for n in range(1, len(log))] + [
        CallEnd(key="again", exit_code=1)
    ]
    found = amendments(log, known, ALL)
    assert len(found) == MAX_COMMANDS
    assert [found[0].meta["command"], found[-1].meta["command"]] == ["make 3", "make 1"]


def test_the_plan_in_force_is_told_of_the_call_that_made_it():
    log = [ended(1, "a"), ended(2, "b"), ended(3, "c", "make")]
    known = [planned("a", x=False, y=False), planned("b", x=True, y=False), CallEnd(key="c", exit_code=0)]
    plan, _ = amendments(log, known, ALL)
    assert (plan.type, plan.content) == (EventType.SYSTEM, "Plan: 1 of 2 done")
    assert plan.meta == {"plan": ["x", "y"], "tasksRemaining": ["y"], "toolId": "b", "amends": 2}


def test_what_an_earlier_list_had_finished_and_the_last_one_leaves_out_stays_done():
    """Finished for good, as where each list is told when it is made."""
    log = [ended(1, "a"), ended(2, "b"), ended(3, "c")]
    known = [
        planned("a", v=True, w=True, x=True),
        planned("b", w=False, y=True, x=True),
        planned("c", y=True, z=False),
    ]
    before, plan = amendments(log, known, ALL)
    assert before.meta == {"plan": ["v", "x"], "tasksRemaining": [], "toolId": "b", "amends": 2}
    assert plan.meta["plan"] == ["y", "z"]


def test_only_what_the_stream_leaves_out_is_told():
    log, known = [ended(1, "a"), ended(2, "b", "ls")], [planned("a", x=False), CallEnd(key="b", exit_code=0)]
    assert [event.meta["amends"] for event in amendments(log, known, (Untold.PLAN,))] == [1]
    assert [event.meta["amends"] for event in amendments(log, known, (Untold.STATUS,))] == [2]
    assert amendments(log, known, ()) == ()


def test_what_was_told_late_is_summed_up_in_a_few_words():
    log = [ended(1, "a"), ended(2, "b", "ls"), ended(3, "c", "make")]
    runs = [CallEnd(key=key, exit_code=0) for key in "bc"]
    told = [
        summed(amendments(log, known, ALL))
        for known in ([planned("a", x=False)], runs[:1], [*runs, planned("a", x=False)])
    ]
    assert told == ["its list of tasks", "how a command ended", "how 2 commands ended and its list of tasks"]
