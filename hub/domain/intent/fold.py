"""What the agent is after, as a fold over its events.

Owns: `Intent`, the fold that keeps it live, and the contract's fields drawn from it.
Must not: ask an agent anything, or put an agent's words where the user's belong (goal, acceptance commands).

Rules:
 1. The same events give the same intent; an event fed again changes nothing.
 2. Every item carries the id of the event it was read from.
 3. Structured facts (`meta`) come first; prose is searched only for explicit statements, and only the agent's
    and the user's own: never a tool's output, which may quote anybody.
 4. Memory is bounded: every collection has a limit, and the oldest item gives way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs

from hub.domain.contract import (
    Anchor,
    Contract,
    Evidence,
    EvidenceKind,
    ManifestEntry,
    Snippet,
    Sourced,
)
from hub.domain.event import Event, Record, Tag
from hub.domain.intent.activity import MAX_TEXT, Activity, Calls, failure_text, read
from hub.domain.intent.plan import MAX_ITEMS, Plan
from hub.domain.intent.shell import proven, same
from hub.domain.intent.statements import Kind, alike, statements
from hub.domain.intent.upcoming import Upcoming, is_check
from hub.domain.text import clip

MAX_FILES = 2000
MAX_SNIPPETS = 5
MAX_SNIPPET = 2000
MAX_ORDER = 2000
ORDER = "The user said: "
"""How a constraint begins that is a later order of the user's."""

_T = TypeVar("_T")


@attrs.frozen
class Command:
    """A command the agent ran, as its newest run ended."""

    command: str
    exit_code: int | None
    """None when the agent does not tell it."""
    failed: bool
    source: int


@attrs.frozen
class Touched:
    """A file the agent named in a tool call."""

    path: str
    written: bool
    source: int


@attrs.frozen
class InFlight:
    """Code of a newest edit; unfinished where its tool call has not ended."""

    path: str
    snippet: str
    finished: bool
    source: int


@attrs.frozen
class Intent:
    """What is known at one moment. Newest last, but for plan and remaining tasks, which keep their order."""

    initial_prompt: str
    plan: tuple[Sourced, ...]
    tasks_remaining: tuple[Sourced, ...]
    do_not_redo: tuple[Sourced, ...]
    decisions: tuple[Sourced, ...]
    constraints: tuple[Sourced, ...]
    skills_loaded: tuple[Sourced, ...]
    skills_in_use: tuple[Sourced, ...]
    skills_to_use: tuple[Sourced, ...]
    mcps: tuple[Sourced, ...]
    model: Sourced | None
    in_flight_code: tuple[InFlight, ...]
    files: tuple[Touched, ...]
    commands: tuple[Command, ...]
    failed_attempts: tuple[Sourced, ...]
    next_action: Sourced | None


NO_INTENT = Intent(
    initial_prompt="",
    plan=(),
    tasks_remaining=(),
    do_not_redo=(),
    decisions=(),
    constraints=(),
    skills_loaded=(),
    skills_in_use=(),
    skills_to_use=(),
    mcps=(),
    model=None,
    in_flight_code=(),
    files=(),
    commands=(),
    failed_attempts=(),
    next_action=None,
)
"""That of nobody."""


class IntentFold:
    """Keeps the intent live. Constant work an event.

    Args:
        initial_prompt: The user's task; where it is empty, the first words of the user in the log are taken.
        root: The worktree; files below it are named relative to it.
    """

    def __init__(self, initial_prompt: str = "", root: str = "") -> None:
        self._prompt = initial_prompt
        self._root = root
        self._last_id = 0
        self._calls = Calls()
        self._plan = Plan()
        self._next = Upcoming()
        self._said: dict[Kind, dict[str, int]] = {kind: {} for kind in Kind}
        self._loaded: dict[str, int] = {}
        self._used: dict[str, int] = {}
        self._mcps: dict[str, int] = {}
        self._model: Sourced | None = None
        self._files: dict[str, Touched] = {}
        self._edits: dict[int, InFlight] = {}
        self._commands: dict[str, Command] = {}
        self._failures: dict[str, Sourced] = {}
        self._streamed = ""
        self._streamed_id = 0
        if initial_prompt:
            self._mine(initial_prompt, 0, by_user=True)

    def feed(self, id: int, event: Event | Record) -> None:  # noqa: A002 - it is the event's id
        """Take in one event. Ids rise; an id not above the last one was fed before and is passed over."""
        if id <= self._last_id:
            return
        self._last_id = id
        seen = read(id, event, self._root)
        if not seen.delta:
            self._flush()
        if not seen.by_hub:
            self._take_lists(seen)
        takers: dict[str, Callable[[Activity], None]] = {
            Tag.TEXT: self._take_text,
            Tag.TOOL_USE: self._take_call,
            Tag.TOOL_RESULT: self._take_result,
        }
        if seen.tag in takers:
            takers[seen.tag](seen)

    def intent(self) -> Intent:
        """The intent as of the last event."""
        remaining = self._plan.remaining
        return Intent(
            initial_prompt=self._prompt,
            plan=_sourced(self._plan.steps),
            tasks_remaining=_sourced(remaining),
            do_not_redo=self._do_not_redo(),
            decisions=_sourced(self._said[Kind.DECISION]),
            constraints=_sourced(self._said[Kind.CONSTRAINT]),
            skills_loaded=_sourced(self._loaded),
            skills_in_use=_sourced(self._used),
            skills_to_use=self._skills_to_use(remaining),
            mcps=_sourced(self._mcps),
            model=self._model,
            in_flight_code=self._in_flight(),
            files=tuple(self._files.values()),
            commands=tuple(self._commands.values()),
            failed_attempts=tuple(self._failures.values()),
            next_action=self._next_action(remaining),
        )

    def _take_lists(self, seen: Activity) -> None:
        """What any event may carry besides its own matter."""
        if seen.plan is not None or seen.remaining is not None:
            self._plan.take(seen.id, seen.plan, seen.remaining)
        for skill in seen.skills:
            _keep(self._used if seen.tag == Tag.TOOL_USE else self._loaded, skill, seen.id)
        for server in seen.mcps:
            _keep(self._mcps, server, seen.id)
        if seen.model:
            self._model = Sourced(seen.model, seen.id)
        if seen.path:
            self._touch(seen)

    def _touch(self, seen: Activity) -> None:
        before = self._files.pop(seen.path, None)
        written = seen.writes or (before is not None and before.written)
        _keep(self._files, seen.path, Touched(seen.path, written, seen.id), MAX_FILES)

    def _take_text(self, seen: Activity) -> None:
        if seen.thinking:  # thoughts weigh what is then dropped; what counts is what the agent says
            return
        if seen.by_user:
            self._take_order(seen)
            return
        if not seen.delta:
            self._mine(seen.text, seen.id, by_user=False)
            return
        self._streamed = (self._streamed + seen.text)[:MAX_TEXT]
        self._streamed_id = seen.id

    def _take_order(self, seen: Activity) -> None:
        """The user's first words are the task; whatever the user said later binds as a whole."""
        if self._prompt:
            _keep(self._said[Kind.CONSTRAINT], order_text(seen), seen.id)
            return
        self._prompt = seen.text
        self._mine(seen.text, seen.id, by_user=True)

    def _flush(self) -> None:
        """Streamed text is read when complete: a piece may be half a sentence, or inside a code block."""
        text, self._streamed = self._streamed, ""
        self._mine(text, self._streamed_id, by_user=False)

    def _mine(self, text: str, source: int, *, by_user: bool) -> None:
        if not by_user:
            self._plan.read(source, text)
        for found in statements(text, by_user=by_user):
            if found.kind is Kind.NEXT:
                self._next.say(found.text, source)
                continue
            if found.kind is Kind.DO_NOT_REDO:
                self._next.done(found.text)
                self._plan.said_done(source, found.text)
            said = self._said[found.kind]
            # Said again counts as said where it was first.
            _keep(said, found.text, said.pop(found.text, source))

    def _take_call(self, seen: Activity) -> None:
        self._calls.begin(seen)
        if seen.writes and seen.excerpt:
            # A finished edit gives way to a newer one of its file; of unfinished ones there may be several.
            edits = [edit for edit in self._edits.values() if edit.path != seen.path or not edit.finished]
            edits.append(InFlight(seen.path, seen.excerpt[:MAX_SNIPPET], finished=False, source=seen.id))
            kept = sorted(edits, key=_urgency)[-MAX_SNIPPETS:]
            self._edits = {edit.source: edit for edit in kept}

    def _take_result(self, seen: Activity) -> None:
        result = self._calls.complete(seen)
        if result.call in self._edits:
            self._edits[result.call] = attrs.evolve(self._edits[result.call], finished=True)
        self._next.ended(result)
        for path in result.redirected if not result.failed else ():
            self._touch(attrs.evolve(result, path=path, tool="write"))
        if result.command:
            self._ran(result)
        what = result.command or f"{result.tool} {result.path}"
        self._failures.pop(what, None)  # what worked at last is no failed attempt
        if result.failed and (text := failure_text(result)):
            _keep(self._failures, what, Sourced(text, result.id))

    def _ran(self, result: Activity) -> None:
        self._commands.pop(result.command, None)
        command = Command(result.command, result.exit_code, result.failed, result.id)
        _keep(self._commands, result.command, command)
        if result.failed or result.exit_code is None:
            return
        passed = proven(result.command)
        for older in [one for one in self._commands.values() if one.failed and same(one.command) in passed]:
            # It works as a part of the newer line, which stands for both.
            del self._commands[older.command]
            self._failures.pop(older.command, None)

    def _do_not_redo(self) -> tuple[Sourced, ...]:
        said, planned = _sourced(self._said[Kind.DO_NOT_REDO]), set(map(alike, self._plan.done))
        return (*_sourced(self._plan.done), *(item for item in said if alike(item.text) not in planned))

    def _skills_to_use(self, remaining: dict[str, int]) -> tuple[Sourced, ...]:
        """Loaded skills that a remaining task names and that were not used yet."""
        text = "\n".join(remaining).casefold()
        loaded = _sourced(self._loaded)
        return tuple(s for s in loaded if s.text not in self._used and s.text.casefold() in text)

    def _in_flight(self) -> tuple[InFlight, ...]:
        """Unfinished edits last: they are what the next agent must look at first."""
        return tuple(sorted(self._edits.values(), key=_urgency))

    def _finished(self, said: int) -> bool:
        """Whether the last step of a plan was done after that: what was to come next was among the steps."""
        return bool(self._plan.steps) and self._plan.rest == {} and self._plan.told > said

    def _next_action(self, remaining: dict[str, int]) -> Sourced | None:
        said, planned = self._next.said, _sourced(remaining)[:1]
        # The plan's first open task, unless the agent said something more exact since the plan last changed.
        if said and (not planned or said.source > planned[0].source):
            return None if self._finished(said.source) else said
        failing = (c for c in self._commands.values() if c.failed and is_check(c.command, self._prompt))
        failures = tuple(Sourced(mend_text(c.command), c.source) for c in failing)
        return next(iter((*planned, *failures[-1:])), None)


def draft(
    intent: Intent,
    *,
    contract_id: str,
    session_id: str,
    task_id: str,
    task_goal: str,
    snapshot_commit_sha: str,
    acceptance_assertions: tuple[str, ...],
    file_manifest: tuple[ManifestEntry, ...],
    verify_evidence: tuple[Evidence, ...] = (),
    audit: Anchor | None = None,
    handoff_id: str = "",
    created_at: str = "",
    from_provider: str = "",
    to_provider: str = "",
) -> Contract:
    """The unsigned contract: the intent, and what hub itself knows (goal, commands, files, snapshot)."""
    return Contract(
        contract_id=contract_id,
        session_id=session_id,
        task_id=task_id,
        task_goal=task_goal,
        snapshot_commit_sha=snapshot_commit_sha,
        next_action=intent.next_action.text if intent.next_action else "",
        do_not_redo=_texts(intent.do_not_redo),
        acceptance_assertions=acceptance_assertions,
        file_manifest=file_manifest,
        decisions=intent.decisions,
        constraints=intent.constraints,
        initial_prompt=intent.initial_prompt,
        plan=_texts(intent.plan),
        tasks_remaining=_texts(intent.tasks_remaining),
        skills_loaded=_texts(intent.skills_loaded),
        skills_in_use=_texts(intent.skills_in_use),
        skills_to_use=_texts(intent.skills_to_use),
        in_flight_code=tuple(Snippet(code.path, code.snippet) for code in intent.in_flight_code),
        audit=audit,
        handoff_id=handoff_id,
        created_at=created_at,
        from_provider=from_provider,
        to_provider=to_provider,
        evidence=(*verify_evidence, *_evidence(intent)),
    )


def _urgency(edit: InFlight) -> tuple[bool, int]:
    return (not edit.finished, edit.source)


def mend_text(command: str) -> str:
    """The next action where nothing is known but a command that failed."""
    return f"Make this pass: {command}"


def order_text(seen: Activity) -> str:
    """A later order of the user, as it stands among the constraints."""
    return ORDER + clip(" ".join(seen.text.split()), MAX_ORDER)


def _evidence(intent: Intent) -> tuple[Evidence, ...]:
    harness = (*((intent.model,) if intent.model else ()), *intent.mcps)
    return (
        *(Evidence(EvidenceKind.COMMAND, c.command, c.source, c.exit_code) for c in intent.commands),
        *(Evidence(EvidenceKind.FAILED_ATTEMPT, a.text, a.source) for a in intent.failed_attempts),
        *(Evidence(EvidenceKind.HARNESS, h.text, h.source) for h in harness),
    )


def _keep(items: dict[str, _T], key: str, value: _T, limit: int = MAX_ITEMS) -> None:
    items[key] = value
    if len(items) > limit:
        del items[next(iter(items))]


def _sourced(items: dict[str, int]) -> tuple[Sourced, ...]:
    return tuple(Sourced(text, source) for text, source in items.items())


def _texts(items: tuple[Sourced, ...]) -> tuple[str, ...]:
    return tuple(item.text for item in items)
