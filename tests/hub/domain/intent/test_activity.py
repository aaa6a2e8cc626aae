"""The reading of one event, and the pairing of results with calls."""

import attrs
import pytest

from hub.domain.event import Event, EventType, Record
from hub.domain.intent import activity
from hub.domain.intent.activity import Activity, Calls, failure_text, read


def use(tool_id: str, **meta):
    return read(1, Event(EventType.TOOL_USE, "", {"toolId": tool_id, **meta}))


def done(tool_id: str, **meta):
    return read(2, Event(EventType.TOOL_RESULT, "\n said \n", {"toolId": tool_id, **meta}))


@pytest.mark.parametrize(
    "meta", [{"plan": "a"}, {"path": 5}, {"exitCode": 1.5}, {"skills": [1, None, " "]}, {"input": [1]}]
)
def test_what_has_the_wrong_type_counts_as_not_said(meta):
    assert read(1, Event(EventType.TOOL_USE, "x", meta)) == read(1, Event(EventType.TOOL_USE, "x"))


def test_the_excerpt_of_a_call_is_what_it_writes():
    assert use("1", input={"file_path": "a", "new_string": "code"}).excerpt == "code"
    assert use("1", input={"file_path": "a"}).excerpt == ""
    assert use("1", input="patch").excerpt == "patch"


@pytest.mark.parametrize(
    ("root", "path", "told"),
    [
        ("/w", "/w/a/b", "a/b"),
        ("/w/", "/w/a", "a"),
        ("/w", "/other/a", "/other/a"),
        ("", "./a", "a"),
        ("/w", "/wide/a", "/wide/a"),
    ],
)
def test_paths_below_the_worktree_are_relative(root, path, told):
    assert read(1, Event(EventType.TOOL_USE, "", {"path": path}), root).path == told


@pytest.mark.parametrize(
    ("tool", "writes"), [("Edit", True), ("write_file", True), ("apply_patch", True), ("Read", False)]
)
def test_a_tool_writes_by_its_name(tool, writes):
    assert use("1", tool=tool, path="a").writes is writes
    assert not use("1", tool=tool).writes


def test_only_a_handoff_record_tells_state_and_snapshot():
    meta = {"to": "RUNNING", "snapshot": "ab", "handoffId": "h"}
    told = read(1, Record(1, "", "handoff", "", meta))
    assert (told.to_state, told.snapshot, told.handoff_id) == ("RUNNING", "ab", "h")
    assert read(1, Record(1, "", "system", "", meta)).snapshot == ""


def test_a_result_gets_what_only_its_call_told():
    calls = Calls()
    calls.begin(use("1", tool="Bash", command="make", path="a"))
    result = calls.complete(done("1", exitCode=1, path="b"))
    assert (result.tool, result.command, result.path, result.call, result.exit_code) == (
        "Bash",
        "make",
        "b",
        1,
        1,
    )
    assert calls.by_id == {}


def test_a_result_without_call_is_as_it_is():
    assert Calls().complete(done("1")) == done("1")


def test_open_calls_are_bounded():
    calls = Calls()
    for number in range(activity.MAX_OPEN + 3):
        calls.begin(use(str(number)))
    assert len(calls.by_id) == activity.MAX_OPEN
    assert next(iter(calls.by_id)) == "3"


def test_a_failure_is_told_in_one_line():
    assert failure_text(done("1", command="make", exitCode=2)) == "make ended with exit status 2: said"
    assert failure_text(done("1", tool="Edit", path="a", isError=True)) == "Edit a ended with an error: said"
    assert failure_text(done("1", isError=True)) == ""


def test_a_traceback_is_told_by_its_last_line():
    """Its first line is the same in all of them: it tells nothing of what went wrong."""
    said = "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'x'\n"
    failed = attrs.evolve(done("1", command="make", exitCode=1), text=said)
    assert failure_text(failed) == "make ended with exit status 1: KeyError: 'x'"
    assert failure_text(attrs.evolve(failed, text=" ")) == "make ended with exit status 1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Exit code 1\n/usr/bin/python3: No module named mypyy", ": /usr/bin/python3: No module named mypyy"),
        ("Exit code 1\nTraceback (most recent call last):\n  File 'a.py'\nKeyError: 'x'", ": KeyError: 'x'"),
        ("<shellId: 4 completed with exit code 1>", ""),
        ("make: it ended with exit code 2", ": make: it ended with exit code 2"),
        ("<tool_use_error>It was not read yet.</tool_use_error>", ": It was not read yet."),
    ],
)
def test_that_a_command_failed_is_no_reason_of_its_failure(text, said):
    """Claude Code puts it above the command's words: the next agent was told `ended with exit status 1: Exit code 1`."""
    failed = attrs.evolve(done("1", command="make", exitCode=1), text=text)
    assert failure_text(failed) == f"make ended with exit status 1{said}"


def test_a_rule_of_marks_says_nothing_of_a_failure():
    """Test runners begin with one."""
    result = Activity(id=1, tag="tool_result", command="make", failed=True, text="=====\n\nERROR: no\n-----")
    assert failure_text(result) == "make ended with an error: ERROR: no"


@pytest.mark.parametrize("aside", ["isError", "interrupted", "needsInput", ""])
def test_an_agent_rests_where_its_turn_has_ended_by_itself_and_well(aside):
    """An end that somebody else brought about says nothing of the work."""
    meta = {aside: True} if aside else {"isError": False}
    logged = Record(1, "", "system", "done", {**meta, "type": "result"})
    for event in (Event(EventType.RESULT, "done", meta), logged):
        assert read(1, event).rests is (aside == "")
    assert not read(1, Event(EventType.SYSTEM, "init", meta)).rests
    assert not read(1, Event(EventType.TEXT, "done", meta)).rests
