"""What stores' records have in common: a call with its command or file, and the status a tool's words tell."""

import json

import pytest

from hub.domain.detection.intel import StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers import records
from hub.providers.codex.store import CodexFold as Codex
from hub.providers.copilot.store import CopilotFold as Copilot
from hub.providers.gemini.store import GeminiFold as Gemini
from hub.providers.qwen.store import STORE as QWEN

HIT = StoreHit(provider="p", path="/s/1.jsonl")


def failing(tool, given):
    """What is told of a call that failed."""
    draft = IntelDraft()
    records.began(draft, "c", tool, given)
    draft.ended("c", "no", exit_code=2, failed=True)
    return [failed.text for failed in draft.finish(HIT).intent.failed_attempts]


STEPS = [{"content": "a", "step": "a", "description": "a", "status": "pending"}]


def codex(*, well):
    call = {
        "type": "function_call",
        "call_id": "c",
        "name": "update_plan",
        "arguments": f'{{"plan": {json.dumps(STEPS)}}}',
    }
    end = {
        "type": "function_call_output",
        "call_id": "c",
        "output": {"output": "so", "metadata": {"exit_code": int(not well)}},
    }
    return Codex(IntelDraft()), [{"type": "response_item", "payload": payload} for payload in (call, end)]


def qwen(*, well):
    call = {"functionCall": {"id": "c", "name": "todo_write", "args": {"todos": STEPS}}}
    end = {"callId": "c", "status": "success" if well else "error"}
    return QWEN.fold(IntelDraft()), [
        {"type": "assistant", "uuid": "1", "message": {"parts": [call]}},
        {"type": "tool_result", "uuid": "2", "toolCallResult": end},
    ]


def copilot(*, well):
    call = {"toolCallId": "c", "toolName": "update_todo", "arguments": {"todos": "- [ ] a"}}
    end = {"toolCallId": "c", "success": well}
    kinds = ("tool.execution_start", "tool.execution_complete")
    return Copilot(IntelDraft()), [
        {"type": kind, "data": data} for kind, data in zip(kinds, (call, end), strict=True)
    ]


def gemini(*, well):
    call = {
        "id": "c",
        "name": "write_todos",
        "args": {"todos": STEPS},
        "status": "success" if well else "cancelled",
    }
    return Gemini(IntelDraft()), [{"type": "gemini", "id": "1", "toolCalls": [call]}]


@pytest.mark.parametrize("agent", [codex, qwen, copilot, gemini])
def test_a_plan_whose_call_fails_is_none(agent):
    """What a model wanted to note down is noted nowhere; its list is as it was."""
    for well, plan in ((True, ("a",)), (False, ())):
        fold, told = agent(well=well)
        for record in told:
            fold.record(record)
        assert fold.draft.finish(HIT).plan == plan


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("Bash", {"command": "make test"}, "make test"),
        ("exec_command", '{"cmd": "make test"}', "make test"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("shell", {"command": ["sh", "-ec", "make test"]}, "make test"),
        ("shell", {"command": ["git", "-c", "a=b"]}, "git -c a=b"),
        ("shell", {"command": ["make", "test"]}, "make test"),
        ("edit", {"filePath": "a.py"}, "edit a.py"),
        ("apply_patch", "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n", "apply_patch a.py"),
        ("read", {"filePath": "a.py"}, "read"),
        (7, {"command": 7}, ""),
    ],
)
def test_a_call_is_told_by_its_command_or_its_file(tool, given, told):
    """Each agent names them in its own way; none of them is worth an exception."""
    assert failing(tool, given) == ([f"{told} ended with exit status 2: no"] if told else [])


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ("Chunk ID: 1\nProcess exited with code 2", 2),
        ("Exit code 1", 1),
        ("Exit code: 0\nWall time: 1", 0),
        ("It ended with Exit code 3", None),
        ("", None),
    ],
)
def test_an_exit_status_is_what_a_line_of_its_own_tells(head, code):
    assert records.exit_code(head) == code
