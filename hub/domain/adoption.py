"""An adoption: what another agent's transcript tells, as a contract, as events, and as a command to go on with.

Owns: the intent that a transcript tells, the events made of it, and an agent's own interactive command line.
Must not: read a store or write a file, or take acceptance commands or permissions from a transcript.

All text that comes in here is redacted already. A transcript has no place in hub's event log, so the statements
drawn from it name no source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from hub.domain.brief import MAX_GOAL
from hub.domain.contract import Sourced
from hub.domain.event import Event, EventType
from hub.domain.intel import SessionIntel
from hub.domain.intent import Intent, IntentFold
from hub.domain.text import clean, clip

MAX_FILES = 200
"""Files of the work that are told as events."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_LISTS = (
    "plan", "tasks_remaining", "do_not_redo", "decisions", "constraints", "skills_loaded", "skills_in_use",
    "skills_to_use", "mcps",
)  # fmt: skip


@attrs.frozen
class Opening:
    """How an agent's own interactive program is opened."""

    fresh: tuple[str, ...]
    """Its arguments, with `{prompt}` and `{brief}` (a path) to be filled in."""
    resume: tuple[str, ...] = ()
    """The same for going on with a `{session}` of its own; () = it cannot."""
    roams: bool = False
    """Whether its session goes on in another folder than the one it was begun in."""

    def arguments(self, *, prompt: str, brief: str, session: str = "") -> list[str]:
        """The arguments; with a session of the agent's own, that one goes on."""
        given = {"prompt": prompt, "brief": brief, "session": session}
        return [word.format(**given) for word in (self.resume if session and self.resume else self.fresh)]


def resumable(session_id: str) -> bool:
    """Whether it can be given to an agent as the id of a session: what else a store holds is no argument."""
    return bool(_ID.fullmatch(session_id))


def opening_prompt(brief: str) -> str:
    """The first words to an interactive agent, in one line. Nothing in them comes from a transcript."""
    return (
        f"Read the continuation brief in {brief} first: it says what the user asked another agent for, what that has "
        "done in this directory and what is left. Then go on with what is left."
    )


def goal(intel: SessionIntel) -> str:
    """What the user asked for: the first prompt, else the first of the user's turns that is left; "" of neither."""
    asked = (turn.text for turn in intel.recent_turns if turn.role == "user")
    return clip(clean(intel.initial_prompt or next(asked, "")), MAX_GOAL).strip()


def lifted(intel: SessionIntel, root: str) -> Intent:
    """The intent block, from a transcript.

    Args:
        intel: What the store tells.
        root: The folder the agent worked in; files below it are named relative to it.
    """
    fold = IntentFold(goal(intel), root)
    for number, event in enumerate(events(intel), 1):
        fold.feed(number, event)
    found = fold.intent()
    bare: dict[str, Any] = {name: tuple(map(_bare, getattr(found, name))) for name in _LISTS}
    return attrs.evolve(
        found,
        **bare,
        next_action=found.next_action and _bare(found.next_action),
        model=found.model and _bare(found.model),
    )


def _bare(item: Sourced) -> Sourced:
    return attrs.evolve(item, source=0)


def events(intel: SessionIntel) -> Iterator[Event]:
    """What the transcript tells, as events of the session that goes on with it: later handoffs know it from there."""
    told: dict[str, Any] = {"adopted": True}
    harness = {"skills": list(intel.skills), "mcps": list(intel.mcps), "model": intel.model}
    tasks = {"plan": list(intel.plan), "tasksRemaining": list(intel.tasks_remaining)} if intel.plan else {}
    yield Event(EventType.SYSTEM, "adopted from another agent's transcript", {**told, **harness, **tasks})
    for path in intel.files_touched[-MAX_FILES:]:
        call = {**told, "tool": "write", "toolId": f"adopted {path}"}
        yield Event(EventType.TOOL_USE, f"write {path}", {**call, "path": path})
        yield Event(EventType.TOOL_RESULT, "", call)
    asked = goal(intel)
    for turn in intel.recent_turns:
        role = {"role": "user"} if turn.role == "user" else {}
        if turn.text.strip() != asked:  # that is the task itself
            yield Event(EventType.TEXT, turn.text, {**told, **role})


def redacted(intel: SessionIntel, shown: Mapping[str, Any]) -> SessionIntel:
    """The intel with the texts of its redacted wire form."""
    turns = zip(intel.recent_turns, shown["recentTurns"], strict=True)
    return attrs.evolve(
        intel,
        model=shown["model"],
        initial_prompt=shown["initialPrompt"],
        plan=tuple(shown["plan"]),
        tasks_remaining=tuple(shown["tasksRemaining"]),
        files_touched=tuple(shown["filesTouched"]),
        skills=tuple(shown["skills"]),
        mcps=tuple(shown["mcps"]),
        recent_turns=tuple(attrs.evolve(turn, text=told["text"]) for turn, told in turns),
    )
