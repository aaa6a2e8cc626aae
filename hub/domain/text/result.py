"""A tool's result as a person reads it.

Owns: which marks an agent's program puts round a result for its model alone, and how its files are named.
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

_WORKTREE = re.compile(r"/[^\s\"']*/\.hub/worktrees/[^/\s\"']+/")
"""The session's folder in front of a path, which every path of an agent's begins with."""


def from_worktree(text: str) -> str:
    """The text with its files named from the session's folder."""
    return _WORKTREE.sub("", text)


def bare(text: str) -> str:
    """The result without its wrapping; "" where the program only says that there was none."""
    if found := _WRAPPED.fullmatch(text):
        text = found[1]
    text = _REMINDER.sub("", text)
    return "" if _SILENT.fullmatch(text) else text
