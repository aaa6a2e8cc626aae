"""The fold over `codex exec --json`, on captured runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Assignment, Ending, ProcessExit
from hub.providers.codex.agent import PROVIDER
from tests.hub.providers.captured import NOW, exit_of, fold, lines_of, rpc, runs

ASSIGNMENT = Assignment(
    "d-1", "s-1", "Write hello.txt.", Path("/home/dev/repo"), Path("/run/d-1"), options={"mode": "exec"}
)
RUNS = [run for run in runs("codex") if run.startswith("exec_")]
LINES = {run: lines_of("codex", run) for run in RUNS}


@pytest.fixture
def in_utc(monkeypatch):
    """The captures were taken in UTC; Codex tells resets by the machine's own clock."""
    monkeypatch.setitem(os.environ, "TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run(name, **more):
    return fold(PROVIDER, ASSIGNMENT, LINES[name], **{"end": exit_of("codex", name), **more})


def test_a_whole_run_is_told():
    folded = run("exec_rich")
    assert folded.outcome.ending is Ending.DONE
    assert folded.outcome.text == "All done."
    write, shell = folded.of(EventType.TOOL_USE)
    assert write.meta["path"] == "/home/dev/repo/hello.txt"
    assert shell.meta["command"] == "cat hello.txt; exit 3"
    assert folded.of(EventType.TOOL_RESULT)[1].meta["exitCode"] == 3
    assert folded.of(EventType.TOOL_RESULT)[1].meta["isError"] is True
    assert folded.stream.native_session
    assert folded.stream.alive


def test_its_usage_is_the_sum_over_the_thread():
    [usage] = run("exec_rich").of(EventType.USAGE)
    assert (usage.meta["tokensIn"], usage.meta["cumulative"]) == (303, True)


def test_the_limits_reset_is_read_from_a_wall_clock_without_a_date(in_utc):
    """ "try again at 8:15 AM." with a U+2019 before it; the run was at 6:15."""
    failure = run("exec_limit").outcome.failure
    assert failure.kind is FailureClass.USAGE_LIMIT
    assert failure.resets_at == 1_795_248_900.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("exec_limit", FailureClass.USAGE_LIMIT),
        ("exec_refusal", FailureClass.REFUSAL),
        ("exec_overload", FailureClass.OVERLOAD),
        ("exec_context", FailureClass.CONTEXT_OVERFLOW),
    ],
)
def test_failures_are_told_apart_and_told_once(name, kind):
    folded = run(name)
    assert folded.outcome.failure.kind is kind
    assert len(folded.of(EventType.ERROR)) == 1


def test_reconnecting_is_a_retry_and_no_error():
    assert len(run("exec_refusal").of(EventType.RETRY)) == 5


def test_after_a_signal_nothing_more_comes():
    lines = LINES["exec_rich"][:5]
    assert (
        fold(PROVIDER, ASSIGNMENT, lines, end=ProcessExit(1, asked=True)).outcome.ending is Ending.INTERRUPTED
    )
    crashed = fold(PROVIDER, ASSIGNMENT, lines, end=ProcessExit(1))
    assert crashed.outcome.failure.kind is FailureClass.CRASH
    assert crashed.stream.tools_in_flight == 0


def test_it_takes_no_replies_and_has_no_interrupt():
    stream = run("exec_rich", end=None).stream
    assert [
        *stream.reply("x", "k"),
        *stream.interrupt(),
        *stream.answer("1", True, ""),
        *stream.open().writes,
    ] == []


def test_a_todo_list_is_a_plan_also_while_it_changes():
    items = [{"text": "a", "completed": True}, {"text": "b", "completed": False}]
    line = rpc(type="item.updated", item={"id": "i", "type": "todo_list", "items": items})
    [event] = fold(PROVIDER, ASSIGNMENT, [line]).events
    assert (event.meta["plan"], event.meta["tasksRemaining"]) == (["a", "b"], ["b"])


def test_an_error_item_is_a_warning():
    line = rpc(
        type="item.completed", item={"id": "i", "type": "error", "message": "Model metadata not found"}
    )
    [event] = fold(PROVIDER, ASSIGNMENT, [line]).events
    assert event.type is EventType.SYSTEM


def test_launch_gives_the_prompt_as_a_file():
    launch = PROVIDER.launch(attrs.evolve(ASSIGNMENT, envelope="CONTRACT", resume_id="t-1"))
    assert launch.stdin_file in launch.files
    assert launch.files[launch.stdin_file] == b"CONTRACT\n\nWrite hello.txt."
    assert launch.argv[:3] == ["codex", "exec", "resume"]
    assert launch.argv[-2:] == ["t-1", "-"]
    assert not any("CONTRACT" in argument for argument in launch.argv)


@pytest.mark.parametrize("name", RUNS)
def test_the_same_lines_make_the_same_events(name):
    assert run(name).events == run(name).events


@given(st.lists(st.binary(max_size=120), max_size=4), st.sampled_from(RUNS))
def test_any_bytes_amid_a_run_never_raise(garbage, name):
    lines = LINES[name]
    fold(PROVIDER, ASSIGNMENT, [*lines[:2], *garbage, *lines[2:]], end=ProcessExit(1), now=NOW)
