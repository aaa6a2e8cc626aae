"""Events as blocks: tool calls folded with their results; handoffs as a ribbon."""

import time

import attrs
import pytest

from hub.api.history import walks
from hub.domain.session import LeftOut
from hub.domain.wallclock import moment, seconds
from hub.tui.look import ASCII
from hub.tui.ribbon import rows_of
from hub.tui.words import Story, line_of
from tests.hub.api.test_history import row as entry

AT = "2026-11-23T17:39:41.624Z"


def event(number, tag, msg, **meta):
    return {"id": number, "ts": "17:39:41.624", "tag": tag, "msg": msg, "meta": {"at": AT, **meta}}


def lines(story, width=60):
    return ["".join(text for text, _ in row.pieces)[9:] for row in story.rows(width, ASCII)]


def agent(number, tag, msg, **meta):
    who = {"provider": "claude", "account": "work", "dispatchId": "d-1"}
    return event(number, tag, msg, **{"type": tag, **who, **meta})


def test_a_tool_call_is_one_line_with_its_end_and_unfolds():
    story = Story()
    story.take([
        agent(1, "tool_use", "run make", toolId="t1", command="make\nmake install"),
        agent(2, "text", "meanwhile"),
        agent(3, "tool_result", "line one\nline two", toolId="t1", isError=True, exitCode=2),
    ])  # fmt: skip
    assert lines(story) == ["claude/work", "+ run make x exit 2", "meanwhile"]
    assert story.fold("1")
    assert lines(story)[1:6] == [
        "- run make x exit 2",
        "  make",
        "  make install",
        "  line one",
        "  line two",
    ]
    assert story.fold("1")
    assert not story.fold("2")
    story.fold_all()
    assert "  line one" in lines(story)
    story.fold_all()
    assert "  line one" not in lines(story)


def test_what_comes_whole_is_not_shown_in_pieces_nor_twice():
    story = Story()
    story.take([
        agent(1, "text", "I am", delta=True),
        agent(2, "text", "I am done."),
        agent(3, "system", "I am done.", type="result"),
        agent(4, "waiting", "make", type="waiting", approvalId="x"),
        agent(5, "quota", "12 tokens", type="usage"),
        agent(6, "system", "sqlite", type="system", role="user"),
        event(7, "text", "sqlite", role="user"),
    ])  # fmt: skip
    assert lines(story) == ["claude/work", "I am done.", "you: sqlite"]


def test_an_error_that_is_told_again_is_shown_once():
    """As the agent's last words, and as hub's own with the next step."""
    story = Story()
    story.take([
        agent(1, "error", "You've hit your limit.", type="error"),
        agent(2, "system", "You've hit your limit.", type="result"),
        agent(3, "text", "It broke."),
        event(4, "error", "claude: It broke.", hint="Look at it"),
        event(5, "error", "broke."),
    ])  # fmt: skip
    assert lines(story) == [
        "claude/work",
        "You've hit your limit.",
        "claude: It broke.   next: Look at it",
        "broke.",
    ]


def test_an_error_folds_what_it_was_made_of_and_shows_the_next_step():
    story = Story()
    story.take([event(1, "error", "It failed.\nmake: *** [all] Error 1", hint="Try again")])
    assert lines(story) == ["+ It failed. next: Try again"]
    story.fold("1")
    assert "  make: *** [all] Error 1" in lines(story)


def test_a_long_text_is_wrapped_and_a_folder_is_left_out():
    story = Story()
    story.take([
        agent(1, "text", "word " * 30),
        agent(2, "tool_use", "write /home/u/p/.hub/worktrees/s-1-2/src/a.py", toolId="t"),
    ])  # fmt: skip
    assert max(map(len, lines(story, 60))) <= 60
    assert lines(story)[-1] == "+ write src/a.py"


def test_the_story_is_bounded():
    story = Story(limit=10)
    story.take(event(number, "system", f"event {number}") for number in range(1, 101))
    assert len(story.blocks) == 10
    assert lines(story)[-1] == "event 100"
    assert "hub logs" in lines(story)[0]


def test_a_line_of_the_log_has_every_event():
    row = line_of(agent(1, "text", "two\nlines", delta=True))
    assert "".join(text for text, _ in row.pieces).split()[1:] == ["text", "claude", "two", "lines"]
    assert row.key == "1"
    failed = agent(2, "tool_result", "<tool_use_error>No file.</tool_use_error>", toolId="t1", isError=True)
    assert "".join(text for text, _ in line_of(failed).pieces).endswith("claude       No file.")


def test_a_line_of_the_log_says_instants_as_the_rest_of_the_screen():
    """`until 2026-11-23T19:39:41.624Z` stood there, and 19:39 in the session. What an agent says is not changed."""
    waits = event(1, "waiting", f"five_hour is used up until {AT}")
    at = moment(AT, time.time())
    assert "".join(text for text, _ in line_of(waits).pieces).endswith(f"5-hour quota is used up until {at}")
    assert "".join(text for text, _ in line_of(agent(2, "text", f"at {AT}")).pieces).endswith(f"at {AT}")


@pytest.mark.parametrize(
    ("tag", "meta"),
    [
        ("system", {"taskId": "t", "task": "x"}),
        ("text", {"role": "user"}),
        ("system", {"command": "x", "exitCode": 0}),
        ("system", {"setup": "x"}),
        ("waiting", {"needsApproval": True, "approvalId": "a"}),
        ("waiting", {"approvalId": "a", "approved": True}),
        ("waiting", {"needsInput": True, "type": "waiting"}),
        ("system", {"type": "result"}),
        ("error", {"type": "error"}),
    ],
)
def test_what_a_user_or_an_agent_wrote_is_shown_as_it_was(tag, meta):
    """The task "rename five_hour in quota.py" was shown as "rename 5-hour quota in quota.py"."""
    written, story = event(1, tag, "rename five_hour in quota.py", **meta), Story()
    story.take([written])
    for shown in ("".join(text for text, _ in line_of(written).pieces), "\n".join(lines(story))):
        assert "rename five_hour in quota.py" in shown


def move(number, source, target, second, **meta):
    at = f"2026-11-23T17:39:{second:06.3f}Z"
    who = {"provider": "claude", **meta}
    return {
        "id": number, "ts": "", "tag": "handoff", "msg": f"{source} -> {target}",
        "meta": {"handoffId": "h-1", "from": source, "to": target, "reason": "five_hour at 93 %", **who, "at": at},
    }  # fmt: skip


def shown(rows, left_out=()):
    found = rows_of(walks(rows), left_out, 80, ASCII)
    return ["".join(text for text, _ in line.pieces) for line in found]


def test_a_handoff_has_both_ends_its_states_its_score_and_who_was_passed_by():
    by = {
        "provider": "gemini",
        "account": "team",
        "reason": "at its limit until 2026-01-01T10:00:00Z",
        "hint": "",
    }
    rows = [
        entry(1, "RUNNING PAUSING five_hour", "claude"),
        entry(2, "PAUSING SNAPSHOTTED -", "claude"),
        entry(3, "SNAPSHOTTED ENVELOPE_BUILT -", "claude", passed=[by]),
        attrs.evolve(
            entry(4, "ENVELOPE_BUILT RUNNING -", "codex", hfs=97),
            account="work", missing=["a fact"], unsupported=["next: done installed."],
        ),
    ]  # fmt: skip
    first = [LeftOut("qwen", "not logged in", "Log in: hub qwen auth login")]
    assert shown(rows[:1]) == [
        "claude --> not over yet",
        f"{seconds(rows[0].ts)}  5-hour quota",
        "",
    ]
    going = shown(rows[:2])
    assert [line.split()[0] for line in going[2:-1]] == ["PAUSING", "in"]
    over = shown(rows, first)
    assert over[0] == "claude --> codex/work   fidelity 97 of 100"
    assert over[1].endswith("  5-hour quota")
    assert over[2].startswith("  PAUSING")
    assert over[2].endswith("1000 ms")
    assert over[5].endswith("3000 ms")
    assert over[6].startswith("  passed by: gemini/team: at its limit until ")
    assert over[7:9] == ["  not handed over: a fact", "  said, but nothing shows it: next: done installed."]
    assert over[-2] == "Passed by at the start"
    assert over[-1] == "  qwen: not logged in. Log in: hub qwen auth login"


def test_a_score_that_is_still_to_come_is_said():
    rows = [entry(1, "RUNNING PAUSING -"), entry(2, "PAUSING RUNNING -", "b", hfs="pending")]
    assert shown(rows)[0] == "a --> b   fidelity pending"


def test_without_a_handoff_it_says_so():
    assert shown([])[0].startswith("no handoff yet; ")


def test_the_stream_has_a_handoff_in_two_lines():
    """Its states stand with the handoffs, readings on the page of quotas."""
    story = Story()
    story.take([
        event(1, "quota", "72 % used", used=720),
        event(2, "system", "qwen is left out of the chain: not logged in.", leftOut="qwen"),
        move(3, "RUNNING", "PAUSING", 1.0),
        move(4, "PAUSING", "SNAPSHOTTED", 1.5),
        move(5, "RESUMING", "RUNNING", 2.0, provider="codex", account="work"),
    ])  # fmt: skip
    assert lines(story) == [
        "handing the work over: 5-hour quota at 93 %",
        "codex/work goes on with the work",
    ]
