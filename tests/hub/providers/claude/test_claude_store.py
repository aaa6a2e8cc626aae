"""Claude Code's sessions: real ones, and what is known to surprise."""

import json
from pathlib import Path

import attrs
import pytest

from hub.domain.detection.intel import GLANCE, StoredTurn, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers.claude.store import STORE, ClaudeFold
from tests.hub.providers.stores import hits_of, home_of, only

TASK = "Write the file hello.txt, then check it."


def test_a_real_session(tmp_path):
    intel = only(home_of("claude", "rich", tmp_path), "claude")
    assert intel.session_id == "c545fe9f-1948-438b-82f1-4d06eb0fd8d7"
    assert (intel.model, intel.cwd, intel.initial_prompt) == ("claude-opus-5-5", "/home/dev/repo", TASK)
    assert intel.files_touched == ("hello.txt",)
    assert "code-review" in intel.skills
    assert intel.recent_turns[0] == StoredTurn("user", TASK)
    assert intel.recent_turns[-1].text.startswith("Done: hello.txt")
    assert intel.message_count == 4
    assert intel.alarm == ""
    assert (intel.accounting.unknown, intel.accounting.damaged) == (0, 0)


def test_usage_counts_once_a_message_as_the_program_itself_sums_it_up(tmp_path):
    """Three records repeat the usage of one message; `cost-state` has Claude's own sum of the session."""
    home = home_of("claude", "rich", tmp_path)
    (hit,) = hits_of(home, "claude")
    states = [json.loads(line) for line in Path(hit.path).read_text().splitlines() if '"cost-state"' in line]
    own = states[-1]["modelUsage"]["claude-opus-5-5"]
    intel = only(home, "claude")
    assert (
        intel.tokens_in == own["inputTokens"] + own["cacheReadInputTokens"] + own["cacheCreationInputTokens"]
    )
    assert intel.tokens_out == own["outputTokens"]
    assert intel.tokens_exact


@pytest.mark.parametrize("run", ["limit", "refusal"])
def test_the_errors_of_a_limit_and_a_refusal_are_turns_and_no_model(tmp_path, run):
    intel = only(home_of("claude", run, tmp_path), "claude")
    assert intel.alarm == ""
    assert intel.model.startswith("claude-sonnet")


def test_a_glance_says_the_same_of_a_short_session_but_for_the_intent(tmp_path):
    """Which is lifted where somebody goes on with it, for it takes two thirds of the time."""
    home = home_of("claude", "two_messages", tmp_path)
    assert only(home, "claude", GLANCE) == attrs.evolve(only(home, "claude"), intent=None)


def test_tasks_lie_beside_the_session(tmp_path):
    home = home_of("claude", "rich", tmp_path)
    folder = home / ".claude/tasks/c545fe9f-1948-438b-82f1-4d06eb0fd8d7"
    folder.mkdir(parents=True)
    for number, state in ((10, "pending"), (2, "completed"), (9, "in_progress")):
        task = {"id": str(number), "subject": f"step {number}", "status": state, "blocks": []}
        (folder / f"{number}.json").write_text(json.dumps(task))
    intel = only(home, "claude")
    assert intel.plan == ("step 2", "step 9", "step 10")
    assert intel.tasks_remaining == ("step 9", "step 10")


def test_an_account_of_its_own_has_its_own_sessions(tmp_path):
    home = home_of("claude", "rich", tmp_path)
    moved = tmp_path / "elsewhere"
    (home / ".claude").rename(moved)
    assert hits_of(home, "claude") == []
    (hit,) = hits_of(home, "claude", {"CLAUDE_CONFIG_DIR": str(moved)})
    assert hit.root == str(moved)


def test_a_subagents_file_is_no_session(tmp_path):
    home = home_of("claude", "rich", tmp_path)
    (path,) = (home / ".claude").rglob("*.jsonl")
    path.rename(path.with_name("agent-1.jsonl"))
    assert hits_of(home, "claude") == []


def _fold(*values):
    fold = ClaudeFold(IntelDraft())
    for value in values:
        fold.record(value)
    return fold.draft.finish(StoreHit(provider="claude", path="/x/s.jsonl"))


def _tool(name, given, **more):
    block = {"type": "tool_use", "id": "t", "name": name, "input": given}
    return {"type": "assistant", "uuid": f"{name}{given}", "message": {"id": "m", "content": [block]}, **more}


def _result(*, is_error=False, **more):
    block = {"type": "tool_result", "tool_use_id": "t", "content": "so", "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}, **more}


def test_the_list_of_older_versions():
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]
    intel = _fold(_tool("TodoWrite", {"todos": todos}), _result())
    assert (intel.plan, intel.tasks_remaining) == (("a", "b"), ("b",))


@pytest.mark.parametrize(
    ("name", "given", "after"),
    [
        ("TodoWrite", {"todos": ["b"]}, []),
        ("TodoWrite", {"todos": ["b"]}, [_result(is_error=True, toolUseResult="Error: no")]),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, []),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, [_result(is_error=True)]),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, [_result(toolUseResult={"success": False})]),
    ],
)
def test_a_call_that_does_not_succeed_changes_no_plan(name, given, after):
    """A session may be left while it runs, tasks may be disabled, a task may not be there."""
    before = [
        _tool("TaskCreate", {"subject": "a"}),
        _result(toolUseResult={"task": {"id": "1", "subject": "a"}}),
    ]
    assert _fold(*before, _tool(name, given), *after).tasks_remaining == ("a",)


def test_tasks_by_tool_calls():
    """The number of a new task is told only by the result."""
    result = {
        "type": "user",
        "uuid": "r",
        "toolUseResult": {"task": {"id": "1", "subject": "write"}},
        "message": {},
    }
    intel = _fold(_tool("TaskCreate", {"subject": "write"}), result)
    assert intel.tasks_remaining == ("write",)
    intel = _fold(result, _tool("TaskUpdate", {"taskId": "1", "status": "completed"}), _result())
    assert (intel.plan, intel.tasks_remaining) == (("write",), ())


def test_what_the_program_says_as_the_user_is_no_prompt():
    said = [
        {"isMeta": True, "message": {"content": "Caveat"}},
        {"message": {"content": "<command-name>/clear</command-name>"}},
        {"isCompactSummary": True, "message": {"content": "This session is being continued"}},
        {"message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}},
        {"isSidechain": True, "message": {"content": "Search for it"}},
    ]
    intel = _fold(*({"type": "user", "uuid": str(at), **value} for at, value in enumerate(said)))
    assert (intel.initial_prompt, intel.message_count, intel.accounting.ignored) == ("", 0, 5)


def test_a_record_that_is_there_twice_counts_once():
    record = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Go"}}
    intel = _fold(record, record)
    assert (intel.message_count, intel.accounting.repeated) == (1, 1)


@pytest.mark.parametrize(
    ("ends", "touched"), [([_result()], ("a.py",)), ([_result(is_error=True)], ()), ([], ())]
)
def test_a_file_is_touched_once_its_edit_has_succeeded(ends, touched):
    """An Edit whose old text was not found, or that nobody allowed, counted like any other."""
    assert _fold(_tool("Edit", {"file_path": "a.py"}), *ends).files_touched == touched


def test_words_of_the_record_that_calls_are_no_word_of_the_calls_end():
    """It may be on its way, or its user be asked about it."""
    calls = _tool("Edit", {"file_path": "a.py"})
    calls["message"]["content"].insert(0, {"type": "text", "text": "I edit it."})
    goes_on = {"type": "assistant", "uuid": "n", "message": {"id": "n", "content": "Done."}}
    assert (_fold(calls).files_touched, _fold(calls, goes_on).files_touched) == ((), ("a.py",))


def test_servers_and_skills_are_lifted_from_their_use():
    intel = _fold(
        _tool("mcp__github__list", {}),
        _tool("Skill", {"skill": "review"}),
        _tool("NotebookEdit", {"notebook_path": "n.ipynb"}),
        _result(),
    )
    assert (intel.mcps, intel.skills, intel.files_touched) == (("github",), ("review",), ("n.ipynb",))


def test_a_format_of_tomorrow_alarms():
    """A session whose records nobody knows is not an empty session."""
    intel = _fold(*({"type": "turn.v2", "uuid": str(at), "text": "hi"} for at in range(5)))
    assert "turn.v2" in intel.alarm
    assert intel.accounting.unknown == 5


def test_it_is_the_store_of_its_name():
    assert STORE.name == "claude"
