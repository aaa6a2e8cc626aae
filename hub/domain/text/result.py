"""A tool's result as a person reads it.

Owns: which marks an agent's program puts round a result for its model alone, which of its lines tell why something failed,
and how its files are named.
Must not: change what is recorded; a mark that a file or a command has itself stays, unless it is all there is.
"""

from __future__ import annotations

import re

_WRAPPED = re.compile(r"\s*<tool_use_error>(.*)</tool_use_error>\s*", re.DOTALL)
_SILENT = re.compile(r"\s*\((?:Bash|Command) completed with no output\)\s*")
_REMINDER = re.compile(
    r"(?<!\s)\s*<system-reminder>(?:(?!<system-reminder>).)*</system-reminder>\s*\Z", re.DOTALL
)
"""The last of them; it stands below a file's lines. Blanks are read once, from where they begin."""

_PATH = re.compile(
    r"((?:\A|[\s=(,:\[{<>;|&@!\\]|\x1b\[[\d;]*[A-Za-z])(?:[\"'`*+\u2018\u201c\xab-]|(?<=-)[A-Za-z])*)"
    r"((?:/|///)(?!/)[^\s\x00-\x1f\"'`;|&<>(){}\[\]*?$,:=\\]*)"
)
"""What may stand before an absolute path, and the path: up to whatever could part it from another word. `//` is a host's."""
_WORKTREE = re.compile(r"\A(?s:.+?)/\.hub/worktrees/[^/]+/")
"""The session's folder in front of a path, which every path of an agent's begins with."""

_WORD = re.compile(r"\w")
_STATUS = re.compile(
    r"\W*(?:\w+\W+){0,6}exit(?:ed)?\W+(?:with\W+)?(?:code|status)\W+(\d{1,10})\W*", re.IGNORECASE
)
"""`Exit code 1`, `<shellId: 4 completed with exit code 1>`: a program's own line, above or below what the command said."""
_LONGEST = 200
"""Characters of such a line."""


def from_worktree(text: str) -> str:
    """The text with its files named from the session's folder. No more than one path's own beginning is ever cut.

    A path below a folder with a blank stays whole: what is before the blank could be another file.
    """
    return _PATH.sub(lambda found: found[1] + _WORKTREE.sub("", found[2], count=1), text)


def bare(text: str) -> str:
    """The result without its wrapping; "" where the program only says that there was none."""
    if found := _WRAPPED.fullmatch(text):
        text = found[1]
    text = _REMINDER.sub("", text)
    return "" if _SILENT.fullmatch(text) else text


def telling(text: str, exit_code: int | None = None) -> list[str]:
    """The lines of a failed result that tell anything: no rules of marks, and none that only repeats its `exit_code`."""
    lines = [line.strip() for line in bare(text).splitlines() if _WORD.search(line)]
    return [line for line in lines if exit_code is None or _status(line) != exit_code]


def _status(line: str) -> int | None:
    found = _STATUS.fullmatch(line) if len(line) <= _LONGEST else None
    return int(found[1]) if found else None
