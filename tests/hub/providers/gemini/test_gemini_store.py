"""How Gemini CLI's own session tells what became of a command."""

from __future__ import annotations

import json

import pytest

from hub.domain.detection.intel import StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers.gemini.store import GeminiFold

HIT = StoreHit(provider="gemini", path="/s/session-1.jsonl")


def ended(words: str, *, tool: str = "run_shell_command", status: str = "success", given=None):
    """The end of one call whose tool told these words."""
    fold = GeminiFold(IntelDraft())
    answer = {"functionResponse": {"response": {"output": words}}}
    call = {"id": "k", "name": tool, "args": given or {"command": "x"}, "status": status, "result": [answer]}
    fold.record({"id": "m", "type": "gemini", "content": "", "toolCalls": [call]})
    (end,) = fold.draft.finish(HIT).ends
    return end


def wrapped(*lines: str) -> str:
    """As the program hands it to its model."""
    return "\n".join(("<untrusted_context>", *lines, "</untrusted_context>"))


@pytest.mark.parametrize(
    ("words", "text", "code"),
    [
        (wrapped("Output: a", "b", "Process Group PGID: 9"), "a\nb", 0),
        (wrapped("Output: no", "Exit Code: 2", "Process Group PGID: 9"), "no", 2),
        (wrapped("Output: (empty)", "Exit Code: 1", "Signal: 15", "Background PIDs: 7"), "(empty)", 1),
        (wrapped("Output: x", "Signal: 9", "Process Group PGID: 9"), "x", None),
        (wrapped("Output: x", "Error: no shell", "Process Group PGID: 9"), "x", 0),
        (
            wrapped("Output: Exit Code: 3", "Exit Code: 3 it said", "Exit Code: 1"),
            "Exit Code: 3\nExit Code: 3 it said",
            1,
        ),
        (wrapped("Command moved to background (PID: 7). Output hidden."), None, None),
        ("Command was cancelled by user before it could complete.", None, None),
        ("Command: ls\nOutput: a\nError: (none)\nExit Code: 0\nSignal: (none)", "Command: ls\nOutput: a", 0),
        (wrapped("Output: x", f"Exit Code: {'9' * 5000}"), "x", None),
        ("", None, None),
    ],
)
def test_an_exit_status_stands_below_what_the_command_wrote(words, text, code):
    """Only one other than 0 is told; a command that was moved away, cancelled or killed has none."""
    end = ended(words)
    assert end.exit_code == code
    if text is not None:
        assert end.text == text


def test_what_a_file_says_is_no_exit_status():
    """The file that was read ends with such a line."""
    end = ended("a log\nExit Code: 3", tool="read_file")
    assert (end.exit_code, end.text) == (None, "a log\nExit Code: 3")


def test_a_call_that_failed_has_no_status_of_its_own():
    assert ended("Output: x\nExit Code: 3", status="error").exit_code is None


def test_a_list_of_tasks_is_told_of_the_call_that_set_it():
    todos = [{"description": "a", "status": "completed"}, {"description": "b", "status": "in_progress"}]
    assert ended("ok", tool="write_todos", given={"todos": todos}).plan == (("a", True), ("b", False))


def test_a_file_counts_where_the_call_that_writes_it_has_no_answer_on_record():
    fold = GeminiFold(IntelDraft())
    call = {"id": "k", "name": "write_file", "args": {"file_path": "a.py"}, "status": "success"}
    fold.record(json.loads(json.dumps({"id": "m", "type": "gemini", "content": "", "toolCalls": [call]})))
    assert fold.draft.finish(HIT).files_touched == ("a.py",)
