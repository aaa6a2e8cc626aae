"""An adoption: what another agent's transcript tells, as a contract, as events, and as a command to go on with.

Owns: the intent that a transcript tells, the events made of it, and an agent's own interactive command line.
Must not: read a store or write a file, or take acceptance commands or permissions from a transcript.

Theory of operation. A store's reader folds a whole transcript by the same rules as hub folds the events of a session of
its own; what came out is the contract's intent as it stands. The session that goes on with it has a log of its own, and
its later handoffs are drawn from that log alone. So the intent is also told as events, made so that the same fold over
them gives the same intent again. A transcript has no place in hub's log, so what is drawn from it names no source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from hub.domain.brief import MAX_GOAL
from hub.domain.contract import Evidence, EvidenceKind, Sourced
from hub.domain.detection.intel import SessionIntel, StoredTurn
from hub.domain.event import Event, EventType
from hub.domain.fidelity.said import MAX_TURNS, turn
from hub.domain.intent.activity import below
from hub.domain.intent.fold import ORDER, Intent, IntentFold
from hub.domain.intent.memory import Touched
from hub.domain.meta import EventMeta
from hub.domain.text.safe import clean, clip

MAX_FILES = 200
"""Files of the work that are told as events."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_TOLD: EventMeta = {"adopted": True}


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
    folder = root.rstrip("/") + "/"

    def relative(attempt: Sourced) -> Sourced:  # "edit /root/a.py ended with an error"
        return attrs.evolve(
            attempt, text=attempt.text.replace(f" {folder}", " ", 1) if root else attempt.text
        )

    told = intel.intent or Intent()
    found = attrs.evolve(
        told,
        initial_prompt=goal(intel),
        files=tuple(Touched(below(root, path), written=True, source=0) for path in intel.files_touched),
        failed_attempts=tuple(map(relative, told.failed_attempts)),
    )
    bare: Intent = _each(found, lambda name, value: 0 if name == "source" else value)
    return bare


def seen_work(intel: SessionIntel, intent: Intent, folder: str) -> tuple[Evidence, ...]:
    """What the transcript tells beside its intent: where the agent worked, what it wrote, and what it said last."""
    said = [item.text for item in intel.recent_turns if item.role != "user" and item.text.strip()]
    written = [file.path for file in intent.files if file.written][-MAX_FILES:]
    return (
        *((Evidence(EvidenceKind.FOLDER, folder, 0),) if folder else ()),
        *(Evidence(EvidenceKind.WROTE, path, 0) for path in written),
        *(turn(text) for text in said[-MAX_TURNS:]),
    )


def events(intent: Intent, turns: Iterable[StoredTurn]) -> Iterator[Event]:
    """What the transcript tells, as events of the session that goes on with it.

    Args:
        intent: As `lifted` gave it.
        turns: The newest turns, oldest first.
    """
    fold, number = IntentFold(intent.initial_prompt), 0
    recent = [_turn(turn) for turn in turns if turn.text.strip() != intent.initial_prompt]
    for part in (
        [_harness(intent)],
        _statements(intent, recent),
        recent,
        _deeds(intent),
        _plan(intent),
    ):
        for event in part:
            number += 1
            fold.feed(number, event)
            yield event
    wanted, found = intent.next_action, fold.intent().next_action
    if wanted is not None and (found is None or found.text != wanted.text):
        yield _says(f"Next: {wanted.text}")


def _harness(intent: Intent) -> Event:
    skills = dict.fromkeys(item.text for item in (*intent.skills_loaded, *intent.skills_in_use))
    told: EventMeta = {
        "skills": list(skills),
        "mcps": [server.text for server in intent.mcps],
        "model": intent.model.text if intent.model else "",
    }
    return Event(EventType.SYSTEM, "adopted from another agent's transcript", {**_TOLD, **told})


def _turn(turn: StoredTurn) -> Event:
    return _says(turn.text, {"role": "user"} if turn.role == "user" else {})


def _says(text: str, meta: EventMeta = _TOLD) -> Event:
    return Event(EventType.TEXT, text, {**_TOLD, **meta})


def _statements(intent: Intent, recent: Iterable[Event]) -> Iterator[Event]:
    """What was said, but for what the newest turns and the plan tell themselves."""
    fold = IntentFold(intent.initial_prompt)
    for number, event in enumerate((*recent, *_plan(intent)), 1):
        fold.feed(number, event)
    known = fold.intent()
    for item in _missing(intent.constraints, known.constraints):
        order = item.text.removeprefix(ORDER)
        yield _says(order, {"role": "user"}) if order != item.text else _says(f"Constraint: {order}")
    for item in _missing(intent.decisions, known.decisions):
        yield _says(f"Decision: {item.text}")
    for item in _missing(intent.do_not_redo, known.do_not_redo):
        yield _says(f"Done: {item.text}")


def _missing(all_of: Iterable[Sourced], known: Iterable[Sourced]) -> Iterator[Sourced]:
    texts = {item.text for item in known}
    return (item for item in all_of if item.text not in texts)


def _deeds(intent: Intent) -> Iterator[Event]:
    """Files and commands, each as a call and its end."""
    call: EventMeta
    for file in intent.files[-MAX_FILES:]:
        call = {**_TOLD, "tool": "write", "toolId": f"adopted {file.path}"}
        yield Event(EventType.TOOL_USE, f"write {file.path}", {**call, "path": file.path})
        yield Event(EventType.TOOL_RESULT, "", call)
    failures = [attempt.text for attempt in intent.failed_attempts]
    for command in intent.commands:
        how = f"{command.command} ended with "
        why = next((text for text in failures if command.failed and text.startswith(how)), "")
        failures = [text for text in failures if text != why]
        call = {
            **_TOLD,
            "tool": "shell",
            "toolId": f"adopted {command.command}",
            "command": command.command,
        }
        ended: EventMeta = {"isError": command.failed}
        if command.exit_code is not None:
            ended["exitCode"] = command.exit_code
        yield Event(EventType.TOOL_USE, command.command, call)
        yield Event(EventType.TOOL_RESULT, why.removeprefix(how).partition(": ")[2], {**call, **ended})
    for text in failures:  # a tool and its file
        what, _, why = text.partition(" ended with ")
        call = {**_TOLD, "tool": what, "toolId": f"adopted {what}"}
        yield Event(EventType.TOOL_USE, what, call)
        yield Event(EventType.TOOL_RESULT, why.partition(": ")[2], {**call, "isError": True})


def _plan(intent: Intent) -> Iterator[Event]:
    if intent.plan:
        lists: EventMeta = {
            "plan": [step.text for step in intent.plan],
            "tasksRemaining": [step.text for step in intent.tasks_remaining],
        }
        yield Event(EventType.SYSTEM, "the plan in another agent's transcript", {**_TOLD, **lists})


def intent_texts(intent: Intent) -> list[str]:
    """Every text of it, to be redacted in one go."""
    found: list[str] = []
    _each(intent, lambda _, value: found.append(value) if isinstance(value, str) else None)
    return found


def _each(value: Any, change: Callable[[str, Any], Any], field: str = "") -> Any:
    """The same with every text and number in it as `change` has it, which is told the name of its field."""
    if isinstance(value, tuple):
        return tuple(_each(item, change, field) for item in value)
    if not attrs.has(type(value)):
        return change(field, value)
    names = [one.name for one in attrs.fields(type(value))]
    return attrs.evolve(value, **{name: _each(getattr(value, name), change, name) for name in names})


def redacted(intel: SessionIntel, shown: Mapping[str, Any]) -> SessionIntel:
    """The intel with the texts of its redacted wire form, whose `intent` are those of `intent_texts`."""
    turns = zip(intel.recent_turns, shown["recentTurns"], strict=True)
    texts = iter(shown["intent"])
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
        intent=_each(intel.intent, lambda _, value: next(texts) if isinstance(value, str) else value),
    )
