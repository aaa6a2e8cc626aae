"""The command that Aider checks its edits with.

Owns: which of its arguments say so. Aider tells what the command wrote when it fails, and nothing else of it.
Must not: run it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.domain.text.patterns import late

_TESTS, _COMMAND = "--auto-test", "--test-cmd"
_NEXT = late(r" --[a-z]")


def command(arguments: Sequence[str]) -> str:
    """The command; "" where there is none."""
    if _TESTS not in arguments:
        return ""
    for number, word in enumerate(arguments):
        if word.startswith(f"{_COMMAND}="):
            return word.removeprefix(f"{_COMMAND}=")
        if word == _COMMAND:
            return "".join(arguments[number + 1 : number + 2])
    return ""


def command_in(line: str) -> str:
    """The same from a command line without quotes, as its history has it; a command's own options end it early."""
    if f" {_TESTS}" not in line:
        return ""
    _, found, rest = line.partition(f" {_COMMAND}")
    return _NEXT().split(rest[1:], maxsplit=1)[0].strip() if found else ""
