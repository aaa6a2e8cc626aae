"""What git's words mean.

Owns: the code, the words and the next step of a git that has failed.
Must not: run anything.
Tests: tests/hub/io/git/test_git.py, tests/hub/io/git/test_taking.py
"""

from __future__ import annotations

import re
import shlex

from hub.errors import Code, HubError

_MEANINGS = (
    ("not a git repository", Code.NOT_A_REPOSITORY),
    ("must be run in a work tree", Code.NOT_A_REPOSITORY),
    ("dubious ownership", Code.NO_PERMISSION),
    ("No space left on device", Code.NO_SPACE),
    ("Out of diskspace", Code.NO_SPACE),
    ("Disk quota exceeded", Code.NO_SPACE),
    ("Read-only file system", Code.READ_ONLY),
    ("Permission denied", Code.NO_PERMISSION),
    ("insufficient permission", Code.NO_PERMISSION),
)
MISSING = (
    "See what is missing: git fsck   It may be in a repository that is away: .git/objects/info/alternates"
)
_GONE = re.compile(r"bad object ([0-9a-f]{7,64})\b")
_LOCK = re.compile(r"Unable to create '([^'\n]+\.lock)': File exists")
_TAKEN_UP = re.compile(r"'refs/heads/([^'\n]+)' exists; cannot create 'refs/heads/([^'\n]+)'")


class LockedError(HubError):
    """Another git is changing the same thing, or was killed while it did."""


def failure(command: str, status: int, said: str) -> HubError:
    """What the end of a git with an exit status means."""
    said = said.strip()
    if lock := _LOCK.search(said):
        return LockedError(
            Code.GIT_FAILED,
            f"git {command}: another git is at work here, or was ended in the middle: {lock[1]} is there.",
            hint=f"Try again in a moment; where no git is at work any more: rm {shlex.quote(lock[1])}",
        )
    if name := _TAKEN_UP.search(said):
        return HubError(
            Code.GIT_FAILED,
            f"git {command}: there is a branch {name[1]}, and hub's own would be below it: {name[2]}.",
            hint=f"Rename it: git branch -m {shlex.quote(name[1])} <another name>",
        )
    if gone := _GONE.search(said):
        return HubError(
            Code.GIT_FAILED,
            f"git {command}: {gone[1][:12]} is not in this repository any more.",
            hint=MISSING,
        )
    code = next((code for words, code in _MEANINGS if words in said), Code.GIT_FAILED)
    lines = [line for line in said.splitlines() if line.startswith(("fatal:", "error:"))] or said.splitlines()
    why = lines[0][:400] if lines else f"exit status {status}"
    hint = ""
    if "dubious ownership" in said:
        hint = "Run: git config --global --add safe.directory <the repository>"
    return HubError(code, f"git {command}: {why}", hint=hint)
