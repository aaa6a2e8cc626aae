"""What the agent is after, as a fold over its events.

Owns: `Intent`, and the fold that keeps it live.
Must not: ask an agent anything, or put an agent's words where the user's belong (goal, acceptance commands).

Rules:
 1. The same events give the same intent; an event fed again changes nothing.
 2. Every item carries the id of the event it was read from.
 3. Structured facts (`meta`) come first; prose is searched only for explicit statements, and only the agent's
    and the user's own: never a tool's output, which may quote anybody.
 4. Memory is bounded: every collection has a limit, and the oldest item gives way.
 5. An amendment counts as told by the event it amends: it fills in what is still as that event left it, has that event's
    id, and nothing lapses or is newer because of it.
"""

from __future__ import annotations

import attrs

from hub.domain.contract import Sourced
from hub.domain.event import Event, Record, Tag
from hub.domain.intent.activity import MAX_TEXT, Activity, failure_text, read
from hub.domain.intent.memory import (
    SECTION_OF,
    Changes,
    InFlight,
    Memory,
    RanCommand,
    Section,
    Touched,
)
from hub.domain.intent.plan import keep
from hub.domain.intent.shell import proven, same
from hub.domain.intent.statements import StatementKind, alike, statements
from hub.domain.intent.upcoming import is_check
from hub.domain.text.safe import clip

MAX_FILES = 2000
MAX_SNIPPETS = 5
MAX_SNIPPET = 2000
MAX_ORDER = 2000
ORDER = "The user said: "
"""How a constraint begins that is a later order of the user's."""

MEND = "Make this pass: "
"""How a next action begins that nobody said: hub saw a command fail."""


@attrs.frozen
class Intent:
    """What is known at one moment. Newest last, but for plan and remaining tasks, which keep their order."""

    initial_prompt: str = ""
    plan: tuple[Sourced, ...] = ()
    tasks_remaining: tuple[Sourced, ...] = ()
    done: tuple[Sourced, ...] = ()
    """The plan's finished steps, which are among what is not to be redone."""
    do_not_redo: tuple[Sourced, ...] = ()
    decisions: tuple[Sourced, ...] = ()
    constraints: tuple[Sourced, ...] = ()
    skills_loaded: tuple[Sourced, ...] = ()
    skills_in_use: tuple[Sourced, ...] = ()
    skills_to_use: tuple[Sourced, ...] = ()
    mcps: tuple[Sourced, ...] = ()
    model: Sourced | None = None
    in_flight_code: tuple[InFlight, ...] = ()
    files: tuple[Touched, ...] = ()
    commands: tuple[RanCommand, ...] = ()
    failed_attempts: tuple[Sourced, ...] = ()
    next_action: Sourced | None = None


class IntentFold:
    """Keeps the intent live. Constant work an event.

    Args:
        initial_prompt: The user's task; where it is empty, the first words of the user in the log are taken.
        root: The worktree; files below it are named relative to it.
        memory: What an earlier fold remembered: this one goes on there, and the other arguments are not looked at.
        watched: Somebody takes the changes of `items` after each event.
    """

    def __init__(
        self, initial_prompt: str = "", root: str = "", memory: Memory | None = None, *, watched: bool = False
    ) -> None:
        self.memory = memory or Memory(initial_prompt, root)
        self.items = Changes(self.memory, watched=watched)
        if initial_prompt and memory is None:
            self._mine(initial_prompt, 0, by_user=True)

    def feed(self, id: int, event: Event | Record) -> None:
        """Take in one event. Ids rise; an id not above the last one was fed before and is passed over."""
        if id > self.memory.last_id:
            self.take(read(id, event, self.memory.root))

    def take(self, seen: Activity) -> Activity:
        """The same for an event that was read, and is new; it comes back with what only its call told."""
        self.memory.last_id = seen.id
        if not seen.delta:
            self.flush()
        if not seen.by_hub:
            self._take_lists(seen)
        if seen.tag == Tag.TEXT:
            self._take_text(seen)
        elif seen.tag == Tag.TOOL_USE:
            self._take_call(seen)
        elif seen.tag == Tag.TOOL_RESULT:
            return self._take_late(seen) if seen.amends else self._take_result(seen)
        elif seen.rests:
            self.memory.next.rest()
        return seen

    def flush(self) -> None:
        """Streamed text is read when complete: a piece may be half a sentence, or inside a code block."""
        if text := self.memory.streamed:
            self.memory.streamed = ""
            self._mine(text, self.memory.streamed_id, by_user=False)

    def intent(self) -> Intent:
        """The intent as of the last event."""
        memory, remaining = self.memory, self.memory.plan.remaining
        return Intent(
            initial_prompt=memory.prompt,
            plan=_sourced(memory.plan.steps),
            tasks_remaining=_sourced(remaining),
            done=_sourced(memory.plan.done),
            do_not_redo=not_again(_sourced(memory.plan.done), _sourced(memory.said[Section.DO_NOT_REDO])),
            decisions=_sourced(memory.said[Section.DECISION]),
            constraints=_sourced(memory.said[Section.CONSTRAINT]),
            skills_loaded=_sourced(memory.loaded),
            skills_in_use=_sourced(memory.used),
            skills_to_use=self._skills_to_use(remaining),
            mcps=_sourced(memory.mcps),
            model=memory.model,
            in_flight_code=tuple(sorted(memory.edits.values(), key=_urgency)),
            files=tuple(memory.files.values()),
            commands=tuple(memory.commands.values()),
            failed_attempts=tuple(memory.failures.values()),
            next_action=self._next_action(remaining),
        )

    def _take_lists(self, seen: Activity) -> None:
        """What any event may carry besides its own matter."""
        memory = self.memory
        if seen.plan is not None or seen.remaining is not None:
            memory.plan.take(seen.amends or seen.id, seen.plan, seen.remaining)
        for skill in seen.skills:
            keep(memory.used if seen.tag == Tag.TOOL_USE else memory.loaded, skill, seen.id)
        for server in seen.mcps:
            keep(memory.mcps, server, seen.id)
        if seen.model:
            memory.model = Sourced(seen.model, seen.id)
        if seen.path:
            self._touch(seen)

    def _touch(self, seen: Activity) -> None:
        files = self.memory.files
        before = files.get(seen.path)
        written = seen.writes or (before is not None and before.written)
        self.items.keep(Section.FILE, files, seen.path, Touched(seen.path, written, seen.id), MAX_FILES)

    def _take_text(self, seen: Activity) -> None:
        if seen.thinking:  # thoughts weigh what is then dropped; what counts is what the agent says
            return
        if seen.by_user:
            self._take_order(seen)
            return
        if not seen.delta:
            self._mine(seen.text, seen.id, by_user=False)
            return
        self.memory.streamed = (self.memory.streamed + seen.text)[:MAX_TEXT]
        self.memory.streamed_id = seen.id

    def _take_order(self, seen: Activity) -> None:
        """The user's first words are the task; whatever the user said later binds as a whole."""
        if self.memory.prompt:
            said = self.memory.said[Section.CONSTRAINT]
            self.items.keep(Section.CONSTRAINT, said, order_text(seen), seen.id)
            return
        self.memory.prompt = seen.text
        self._mine(seen.text, seen.id, by_user=True)

    def _mine(self, text: str, source: int, *, by_user: bool) -> None:
        memory = self.memory
        if not by_user:
            memory.plan.read(source, text)
        for found in statements(text, by_user=by_user):
            if found.kind is StatementKind.NEXT:
                memory.next.say(found.text, source)
                continue
            if found.kind is StatementKind.DO_NOT_REDO:
                memory.next.done(found.text)
                memory.plan.said_done(source, found.text)
            section = SECTION_OF[found.kind]
            said = memory.said[section]
            # Said again counts as said where it was first.
            self.items.keep(section, said, found.text, said.get(found.text, source))

    def _take_call(self, seen: Activity) -> None:
        memory = self.memory
        memory.calls.begin(seen)
        if seen.writes and seen.excerpt:
            # A finished edit gives way to a newer one of its file; of unfinished ones there may be several.
            edits = [edit for edit in memory.edits.values() if edit.path != seen.path or not edit.finished]
            edits.append(InFlight(seen.path, seen.excerpt[:MAX_SNIPPET], finished=False, source=seen.id))
            kept = sorted(edits, key=_urgency)[-MAX_SNIPPETS:]
            memory.edits = {edit.source: edit for edit in kept}

    def _take_result(self, seen: Activity) -> Activity:
        memory = self.memory
        result = memory.calls.complete(seen)
        if result.call in memory.edits:
            memory.edits[result.call] = attrs.evolve(memory.edits[result.call], finished=True)
        memory.next.ended(result)
        for path in result.redirected if not result.failed else ():
            self._touch(attrs.evolve(result, path=path, tool="write"))
        if result.command:
            command = RanCommand(result.command, result.exit_code, result.failed, result.id)
            self.items.keep(Section.COMMAND, memory.commands, result.command, command)
        self._came_to(result)
        return result

    def _take_late(self, seen: Activity) -> Activity:
        """How a command's run ended; where it has run again since, that run's word holds."""
        late, commands = attrs.evolve(seen, id=seen.amends), self.memory.commands
        if late.command in commands and commands[late.command].source == late.id:
            command = RanCommand(late.command, late.exit_code, late.failed, late.id)
            self.items.fill(Section.COMMAND, commands, late.command, command)
            self._came_to(late)
        return late

    def _came_to(self, result: Activity) -> None:
        """What a result proves, and what it undoes."""
        memory = self.memory
        if result.command and not result.failed and result.exit_code is not None:
            self._proves(result)
        what = attempted(result)
        self.items.drop(Section.FAILURE, memory.failures, what)  # what worked at last is no failed attempt
        if result.failed and (text := failure_text(result)):
            self.items.keep(Section.FAILURE, memory.failures, what, Sourced(text, result.id))

    def _proves(self, result: Activity) -> None:
        memory, drop, passed = self.memory, self.items.drop, proven(result.command)
        before = [one for one in memory.commands.values() if one.failed and one.source < result.id]
        for older in [one for one in before if same(one.command) in passed]:
            # It works as a part of the newer line, which stands for both.
            drop(Section.COMMAND, memory.commands, older.command)
            drop(Section.FAILURE, memory.failures, older.command)

    def _skills_to_use(self, remaining: dict[str, int]) -> tuple[Sourced, ...]:
        """Loaded skills that a remaining task names and that were not used yet."""
        text = "\n".join(remaining).casefold()
        loaded = _sourced(self.memory.loaded)
        return tuple(s for s in loaded if s.text not in self.memory.used and s.text.casefold() in text)

    def _finished(self, said: int) -> bool:
        """Whether the last step of a plan was done after that: what was to come next was among the steps."""
        plan = self.memory.plan
        return bool(plan.steps) and plan.rest == {} and plan.told > said

    def _next_action(self, remaining: dict[str, int]) -> Sourced | None:
        memory = self.memory
        # A list that is kept may lag behind what the agent has said since: that is no next action any more.
        over = {
            alike(text) for text, told in memory.said[Section.DO_NOT_REDO].items() if told > memory.plan.told
        }
        said = memory.next.said
        planned = _sourced({step: told for step, told in remaining.items() if alike(step) not in over})[:1]
        # The plan's first open task, unless the agent said something more exact since the plan last changed.
        if said and (not planned or said.source > planned[0].source):
            return None if self._finished(said.source) else said
        failing = (c for c in memory.commands.values() if c.failed and is_check(c.command, memory.prompt))
        failures = tuple(Sourced(mend_text(c.command), c.source) for c in failing)
        return next(iter((*planned, *failures[-1:])), None)


def not_again(done: tuple[Sourced, ...], said: tuple[Sourced, ...]) -> tuple[Sourced, ...]:
    """What is not to be redone: finished steps of the plan, and what was said to be done beside them."""
    planned = {alike(item.text) for item in done}
    return (*done, *(item for item in said if alike(item.text) not in planned))


def attempted(result: Activity) -> str:
    """What a failure is known by: the same thing that works later undoes it."""
    return result.command or f"{result.tool} {result.path}"


def _urgency(edit: InFlight) -> tuple[bool, int]:
    return (not edit.finished, edit.source)


def mend_text(command: str) -> str:
    """The next action where nothing is known but a command that failed."""
    return f"{MEND}{command}"


def order_text(seen: Activity) -> str:
    """A later order of the user, as it stands among the constraints."""
    return ORDER + clip(" ".join(seen.text.split()), MAX_ORDER)


def _sourced(items: dict[str, int]) -> tuple[Sourced, ...]:
    return tuple(Sourced(text, source) for text, source in items.items())
