"""What a conversation is made of.

Owns: the kinds of things that are shown, one after the other, what waits for an answer, and what a view of them does.
Must not: say how one looks, or where it came from.
Tests: tests/hub/cli/terminal/test_conversation.py
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

FIDELITY = "how much of the goal, the changes, the commands and the open tasks the next agent was given"


@attrs.frozen
class Heading:
    """From here on this agent speaks."""

    agent: str
    model: str = ""


@attrs.frozen
class Said:
    """An agent's words, whole: Markdown."""

    text: str
    thinking: bool = False


@attrs.frozen
class ToolItem:
    """A tool that was used, and what came of it."""

    what: str
    result: str = ""
    folded: int = 0
    """Further lines of the result."""
    failed: bool = False


@attrs.frozen
class PlanItem:
    """The agent's list of tasks. `fresh` are those done since it was shown last."""

    tasks: tuple[tuple[str, bool], ...]
    fresh: tuple[str, ...]
    changed: bool = True
    """Whether the list itself is another one."""


@attrs.frozen
class ToldItem:
    """A sentence of hub's own."""

    text: str
    look: str = "note"
    """`note`, `good`, `warn`, `bad`, `handoff`, or `dim` for what only `verbose` shows."""
    below: tuple[str, ...] = ()


Item = Heading | Said | ToolItem | PlanItem | ToldItem


@attrs.frozen
class AskItem:
    """What waits for a person: an approval by its id, else a question."""

    text: str
    approval: str = ""
    session_id: str = ""


class ConversationView:
    """Where a conversation is shown; this one is nowhere."""

    def show(self, items: Iterable[Item]) -> None:
        """Add to what was said."""

    def waiting(self, note: str) -> None:
        """Say what keeps everything from going on; "" = nothing does."""
