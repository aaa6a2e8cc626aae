"""What stores' records have in common: a call with its command or file, and the status a tool's words tell."""

import pytest

from hub.domain.detection.intel import StoreHit
from hub.domain.detection.intel_fold import Draft
from hub.providers import records

HIT = StoreHit(provider="p", path="/s/1.jsonl")


def failing(tool, given):
    """What is told of a call that failed."""
    draft = Draft()
    records.began(draft, "c", tool, given)
    draft.ended("c", "no", exit_code=2, failed=True)
    return [failed.text for failed in draft.finish(HIT).intent.failed_attempts]


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("Bash", {"command": "make test"}, "make test"),
        ("exec_command", '{"cmd": "make test"}', "make test"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
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
