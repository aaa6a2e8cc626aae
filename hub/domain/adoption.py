"""An adoption: what another agent was doing, as a contract and as events, and how its successor is opened.

Owns: the intent that a transcript tells, the contract and the events made of it, and an agent's own interactive command.
Must not: read a store or write a file; take a goal, a permission or an acceptance command from an agent's words.

All text that comes in here is redacted already. What a transcript tells has no place in hub's event log until the
events made of it are there, so its statements name no source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from hub.domain.activity import below
from hub.domain.contract import Contract, ManifestEntry, Sourced
from hub.domain.event import Event, EventType
from hub.domain.intent import Intent, IntentFold, draft
from hub.domain.intel import SessionIntel

MAX_FILES = 200
"""Files of the work that are told as events."""


@attrs.frozen
class Interactive:
    """How an agent's own interactive program is opened: its arguments, with `{prompt}`, `{brief}`, `{folder}` (the
    brief's) and `{session}` to be filled in.
    """

    fresh: tuple[str, ...]
    resume: tuple[str, ...] = ()
    """With a session of its own; () = it cannot."""

    def argv(self, program: str, *, prompt: str, brief: str, folder: str, session: str) -> list[str]:
        """The command line; with a session of the agent's own that session goes on."""
        given = {"prompt": prompt, "brief": brief, "folder": folder, "session": session}
        template = self.resume if session and self.resume else self.fresh
        return [program, *(word.format(**given) for word in template)]


def lifted(intel: SessionIntel, root: str) -> Intent:
    """The intent block, from a transcript.

    Args:
        intel: What the store tells.
        root: The folder the agent worked in.
    """
    fold = IntentFold(intel.initial_prompt, root)
    for number, event in enumerate(events(intel), 1):
        fold.feed(number, event)
    found = fold.intent()
    return attrs.evolve(
        found,
        **{
            name: tuple(attrs.evolve(item, source=0) for item in getattr(found, name))
            for name in ("plan", "tasks_remaining", "do_not_redo", "decisions", "constraints")
        },
        next_action=_unsourced(found.next_action),
        model=_unsourced(found.model),
        mcps=tuple(map(_bare, found.mcps)),
    )


def _unsourced(item: Sourced | None) -> Sourced | None:
    return None if item is None else _bare(item)


def _bare(item: Sourced) -> Sourced:
    return attrs.evolve(item, source=0)


def events(intel: SessionIntel) -> Iterator[Event]:
    """What the transcript tells, as events of the session that goes on with it: later handoffs know it from there."""
    told: dict[str, Any] = {"adopted": True}
    lists: dict[str, Any] = {
        "plan": list(intel.plan),
        "tasksRemaining": list(intel.tasks_remaining),
        "skills": list(intel.skills),
        "mcps": list(intel.mcps),
        "model": intel.model,
    }
    plan = lists if intel.plan else {name: lists[name] for name in ("skills", "mcps", "model")}
    yield Event(EventType.SYSTEM, "adopted from another agent's transcript", {**told, **plan})
    for path in intel.files_touched[-MAX_FILES:]:
        meta = {**told, "tool": "write", "toolId": f"adopted {path}", "path": path}
        yield Event(EventType.TOOL_USE, f"write {path}", meta)
        yield Event(EventType.TOOL_RESULT, "", {**told, "toolId": meta["toolId"]})
    turns = intel.recent_turns
    opened = bool(turns) and turns[0].role == "user" and turns[0].text == intel.initial_prompt
    for turn in turns[1 if opened else 0 :]:
        yield Event(EventType.TEXT, turn.text, {**told, **({"role": "user"} if turn.role == "user" else {})})


def contract(
    intent: Intent,
    *,
    session_id: str,
    task_id: str,
    snapshot: str,
    files: Sequence[ManifestEntry],
    acceptance: Sequence[str],
    created_at: str,
    from_provider: str,
    to_provider: str,
) -> Contract:
    """The unsigned contract of an adoption. The goal is the user's first prompt."""
    return draft(
        intent,
        contract_id=f"c-{session_id}",
        session_id=session_id,
        task_id=task_id,
        task_goal=intent.initial_prompt,
        snapshot_commit_sha=snapshot,
        acceptance_assertions=tuple(acceptance),
        file_manifest=tuple(files),
        created_at=created_at,
        from_provider=from_provider,
        to_provider=to_provider,
    )


def redacted(intel: SessionIntel, scrub: Mapping[str, Any]) -> SessionIntel:
    """The intel with the texts of its redacted wire form."""
    turns = zip(intel.recent_turns, scrub["recentTurns"], strict=True)
    return attrs.evolve(
        intel,
        model=scrub["model"],
        initial_prompt=scrub["initialPrompt"],
        plan=tuple(scrub["plan"]),
        tasks_remaining=tuple(scrub["tasksRemaining"]),
        files_touched=tuple(scrub["filesTouched"]),
        skills=tuple(scrub["skills"]),
        mcps=tuple(scrub["mcps"]),
        recent_turns=tuple(attrs.evolve(turn, text=told["text"]) for turn, told in turns),
    )


def relative(paths: Sequence[str], root: str) -> tuple[str, ...]:
    """The paths as a contract names them: below the tree where they are in it."""
    return tuple(dict.fromkeys(below(root, path) for path in paths))
