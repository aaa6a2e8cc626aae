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

_WORKTREE = re.compile(r"/\.hub/worktrees/[^/\s\"']+/")
"""The end of the session's folder, which every path of an agent's begins with."""
_ROOT = re.compile(r"(?<![^\s\"'`=:(<>,])/")
"""Where a path may begin that has blanks in it."""

_WORD = re.compile(r"\w")
_STATUS = re.compile(
    r"\W*(?:\w+\W+){0,6}exit(?:ed)?\W+(?:with\W+)?(?:code|status)\W+(\d{1,10})\W*", re.IGNORECASE
)
"""`Exit code 1`, `<shellId: 4 completed with exit code 1>`: a program's own line, above or below what the command said."""
_LONGEST = 200
"""Characters of such a line."""


def from_worktree(text: str) -> str:
    """The text with its files named from the session's folder. What is read of it is read once."""
    shown, told, after = [], 0, 0
    for found in _WORKTREE.finditer(text):
        line = max(after, *(text.rfind(end, after, found.start()) + 1 for end in "\n\"'"))
        if roots := [one.start() for one in _ROOT.finditer(text, line, found.start())]:
            shown.append(text[told : roots[-1]])
            told = found.end()
        after = found.end()
    return "".join((*shown, text[told:]))


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
