"""Short words for what a record of the log says.

Owns: a tool call's id, the line of a result that tells most, and why a session waits.
Must not: keep anything from one record to the next.
Tests: tests/hub/cli/test_conversation.py
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.cli.screen import for_people
from hub.domain.meta import EventMeta


def full(label: str) -> str:
    """With the account, also where it has no name of its own."""
    return label if "/" in label or not label else f"{label}/default"


def call_id(meta: EventMeta) -> str:
    """What a tool's result has in common with its call."""
    return meta.get("toolId") or meta.get("tool", "")


def one_line(text: str) -> str:
    """The text without line breaks and runs of blanks."""
    return " ".join(text.split())


def told_line(lines: Sequence[str], *, last: bool) -> str:
    """The line of a result that tells most: of a command or a failure the last with a word in it, else the first."""
    telling = [line for line in lines if any(char.isalnum() for char in line)] or list(lines)
    if not telling:
        return ""
    return telling[-1] if last else telling[0]


def why_waits(text: str) -> str:
    """Of a wait: why, without the seconds that its end says better."""
    return for_people(text.partition("; waiting ")[0])
