"""The facts of a handoff: what the event log proves, against which a contract is measured.

Owns: the extraction of facts from a log, event by event.
Must not: look at a contract, or use the fold that fills one (`IntentFold`): a measure that asks the measured
for the answer always agrees. What both share is the reading of a single event and of a single sentence.

Rules:
 1. The facts depend on the set of events alone, not on the order in which they were handed over, nor on how many of
    them were taken at once: a fold that goes on gives what one from scratch gives.
 2. A fact that a later event contradicts is no fact: a command's newest exit status replaces the older one,
    an attempt that worked at last did not fail, a step that is open again is not done.
 3. No fact is left out for shortness: what a contract leaves out must show.
 4. What an amendment tells is a fact in the place of the event it amends, where that still is the newest word.
 5. One event takes the same time whatever came before it, but for the length of the plan.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import attrs

from hub.domain.event import Tag
from hub.domain.fidelity.fact import Facet, Fact, Facts, Key, code, norm, status
from hub.domain.handoff import State
from hub.domain.intent.activity import Activity, Calls, failure_text
from hub.domain.intent.fold import mend_text, order_text
from hub.domain.intent.listed import finished, listed
from hub.domain.intent.shell import proven, same
from hub.domain.intent.statements import StatementKind, alike, statements
from hub.domain.intent.upcoming import Upcoming


def builds(seen: Activity) -> str:
    """The handoff whose contract is written by this event; "" for any other event."""
    return seen.handoff_id if seen.to_state == State.ENVELOPE_BUILT else ""


class GoldFold:
    """Keeps the facts as the events come.

    Args:
        goal: The user's task; where it is empty, the user's first words in the log.
        acceptance: The user's acceptance commands.
        skills: What the user's profile wants used.
    """

    def __init__(self, goal: str, acceptance: Iterable[str], skills: Iterable[str]) -> None:
        self._facts: dict[Key, Fact] = {}
        self._count = 0
        self._goal = ""
        self._calls = Calls()
        self._streamed: list[str] = []
        self._streamed_id = 0
        self._newest: dict[tuple[Facet, str], str] = {}
        self._plan: tuple[str, ...] = ()
        self._plan_id = 0
        self._remaining: tuple[str, ...] | None = None
        self._kept = False
        self._done: dict[str, int] = {}
        self._next_said: tuple[str, int] = ("", 0)
        self._upcoming = Upcoming()
        self._failing: dict[str, int] = {}
        self._failing_as: dict[str, set[str]] = {}
        if goal:
            self._set_goal(goal, 0)
        for command in acceptance:
            self._add(Facet.OBJECTIVE, f"accept {norm(command)}", 0)
        for skill in skills:
            self._add(Facet.HARNESS, f"skill {norm(skill)}", 0)

    def take(self, seen: Activity) -> None:
        """Take in one event. Ids rise."""
        if seen.amends:
            self._late(seen)
            return
        self._count += 1
        if not seen.delta:
            self._flush()
        if not seen.by_hub:
            self._lists(seen)
        if seen.snapshot:
            self._replace(Facet.REPOSITORY, "snapshot", seen.snapshot, seen.id)
        if seen.by_hub and seen.command and (seen.exit_code is not None or seen.tag == Tag.ERROR):
            self._replace(Facet.VERIFICATION, seen.command, status(seen.command, seen.exit_code), seen.id)
        self._matter(seen)

    def facts(self) -> Facts:
        """The facts as of the last event; the fold can go on. What is copied is references alone."""
        end = copy.copy(self)
        end._facts, end._done = dict(self._facts), dict(self._done)  # noqa: SLF001 - its own kind
        end._upcoming = attrs.evolve(self._upcoming)  # noqa: SLF001 - the same
        return end._finish()  # noqa: SLF001 - the same

    def _matter(self, seen: Activity) -> None:
        """What the event is about, by its tag."""
        if seen.tag == Tag.TEXT and not seen.thinking:
            self._words(seen)
        elif seen.tag == Tag.TOOL_USE:
            self._calls.begin(seen)
            if seen.writes and seen.excerpt:
                self._add(Facet.ARTIFACTS, code(seen.path, seen.excerpt), seen.id, gold=False)
        elif seen.tag == Tag.TOOL_RESULT:
            self._result(self._calls.complete(seen))
        elif seen.rests:
            self._upcoming.rest()

    def _set_goal(self, goal: str, source: int) -> None:
        self._goal = goal
        self._add(Facet.OBJECTIVE, f"goal {norm(goal)}", source)
        self._mine(goal, source, by_user=True)

    def _add(self, facet: Facet, text: str, source: int, *, gold: bool = True) -> None:
        before = self._facts.get((facet, text))
        if before is None:
            self._facts[facet, text] = Fact((source,), self._count, gold=gold)
        else:
            self._facts[facet, text] = before.again(source, self._count, gold=gold)

    def _replace(self, facet: Facet, what: str, text: str, source: int) -> None:
        """The newest word on `what` holds; "" when there is nothing left to say."""
        before = self._newest.pop((facet, what), None)
        old = self._facts.pop((facet, before), None) if before is not None else None
        if text:
            self._newest[facet, what] = text
            self._add(facet, text, source)
            if old is not None:
                fact = self._facts[facet, text]
                self._facts[facet, text] = attrs.evolve(fact, references=fact.references + old.references)

    def _words(self, seen: Activity) -> None:
        if seen.by_user and not self._goal:
            self._set_goal(seen.text, seen.id)
        elif seen.by_user:
            self._add(Facet.OBJECTIVE, f"order {norm(order_text(seen))}", seen.id)
        elif seen.delta:
            self._streamed.append(seen.text)
            self._streamed_id = seen.id
        else:
            self._mine(seen.text, seen.id, by_user=False)

    def _flush(self) -> None:
        if self._streamed:
            text, self._streamed = "".join(self._streamed), []
            self._mine(text, self._streamed_id, by_user=False)

    def _mine(self, text: str, source: int, *, by_user: bool) -> None:
        if not by_user:
            self._steps(text, source)
        for found in statements(text, by_user=by_user):
            if found.kind is StatementKind.NEXT:
                self._next_said = (found.text, source)
                self._upcoming.say(found.text, source)
            elif found.kind is StatementKind.DO_NOT_REDO:
                self._upcoming.done(found.text)
                self._add(Facet.NEXT, f"done {norm(found.text)}", source)
                self._over(source, {step for step in self._left() if alike(step) == alike(found.text)})
            else:
                self._add(Facet.DECISIONS, norm(found.text), source)

    def _steps(self, text: str, source: int) -> None:
        """A plan in prose, of an agent that keeps no list or has come to its end."""
        if self._kept and self._left():
            return
        if (found := listed(text)) is not None:
            self._kept = False
            self._planned(found.steps if found.whole else None, found.open, source)
        numbers, left = finished(text), self._left()
        self._over(
            source, {step for number, step in enumerate(self._plan, 1) if number in numbers and step in left}
        )

    def _left(self) -> tuple[str, ...]:
        return self._plan if self._remaining is None else self._remaining

    def _over(self, source: int, steps: set[str]) -> None:
        if steps and not self._kept:
            self._planned(None, tuple(step for step in self._left() if step not in steps), source)

    def _result(self, seen: Activity) -> None:
        self._upcoming.ended(seen)
        for path in seen.redirected if not seen.failed else ():
            self._add(Facet.ARTIFACTS, path, seen.id, gold=False)
        self._ran(seen)
        if seen.command:
            self._replace(Facet.COMMANDS, seen.command, status(seen.command, seen.exit_code), seen.id)
        what = seen.command or f"{seen.tool} {seen.path}"
        self._replace(Facet.FAILED_ATTEMPTS, what, norm(failure_text(seen)) if seen.failed else "", seen.id)
        if seen.writes and not seen.failed:
            self._add(Facet.ARTIFACTS, seen.path, seen.id, gold=not seen.path.startswith("/"))

    def _ran(self, seen: Activity) -> None:
        """What a command's run says of others, and whether it is one that fails."""
        if not seen.command:
            return
        if not seen.failed and seen.exit_code is not None:
            self._proven(seen)
        self._mended(seen.command)
        if seen.failed:
            self._failing[seen.command] = seen.id
            self._failing_as.setdefault(same(seen.command), set()).add(seen.command)

    def _proven(self, seen: Activity) -> None:
        """What a line proves of the commands in it: such a one is told by the line."""
        for passed in proven(seen.command):
            for command in sorted(self._failing_as.get(passed, ())):
                if self._failing[command] < seen.id:
                    self._mended(command)
                    self._replace(Facet.COMMANDS, command, "", seen.id)
                    self._replace(Facet.FAILED_ATTEMPTS, command, "", seen.id)

    def _mended(self, command: str) -> None:
        if self._failing.pop(command, None) is not None:
            self._failing_as[same(command)].discard(command)

    def _late(self, seen: Activity) -> None:
        """An amendment, where nothing newer has been told of its matter since."""
        late = attrs.evolve(seen, id=seen.amends)
        if seen.tag != Tag.TOOL_RESULT:
            self._late_plan(late)
            return
        newest = (Facet.COMMANDS, self._newest.get((Facet.COMMANDS, late.command), ""))
        before = self._facts.get(newest)
        if before is None or late.id not in before.sources:
            return
        self._ran(late)
        self._fill(Facet.COMMANDS, late.command, status(late.command, late.exit_code), late.id, before)
        failure = norm(failure_text(late)) if late.failed else ""
        self._fill(Facet.FAILED_ATTEMPTS, late.command, failure, late.id, before)

    def _fill(self, facet: Facet, what: str, text: str, source: int, like: Fact) -> None:
        """The same word on `what`, told better: of the weight of the fact that was told first."""
        self._replace(facet, what, text, source)
        if text:
            self._facts[facet, text] = Fact((source,), like.rank, like.references)

    def _late_plan(self, late: Activity) -> None:
        """It gives way to a list that was told since; what it says is done stays so."""
        if self._plan_id > late.id and (self._kept or not late.remaining):
            open_steps = {*(late.remaining or ()), *self._left()}
            for step in late.plan or ():
                if step not in open_steps:
                    self._done.setdefault(step, late.id)
            return
        self._kept = True
        self._planned(late.plan, late.remaining, late.id)

    def _lists(self, seen: Activity) -> None:
        for skill in seen.skills:
            self._add(Facet.HARNESS, f"skill {norm(skill)}", seen.id)
        for server in seen.mcps:
            self._add(Facet.HARNESS, f"server {norm(server)}", seen.id)
        if seen.model:
            self._replace(Facet.HARNESS, "model", f"model {norm(seen.model)}", seen.id)
        if seen.plan is not None or seen.remaining is not None:
            self._kept = True
            self._planned(seen.plan, seen.remaining, seen.id)

    def _planned(self, plan: tuple[str, ...] | None, remaining: tuple[str, ...] | None, source: int) -> None:
        self._plan_id = source
        if plan is not None:
            self._plan = plan
        if remaining is None:
            return
        self._remaining = remaining
        if plan is None:
            self._plan = tuple(dict.fromkeys((*self._plan, *remaining)))
        for step in remaining:
            self._done.pop(step, None)
        for step in self._plan:
            if step not in remaining:
                self._done.setdefault(step, source)

    def _finish(self) -> Facts:
        """What only the end of the log decides: the code in flight and what is next."""
        self._flush()
        for call in self._calls.by_id.values():
            if call.writes:
                self._add(Facet.ARTIFACTS, call.path, call.id, gold=not call.path.startswith("/"))
                if call.excerpt:
                    self._add(Facet.ARTIFACTS, code(call.path, call.excerpt), call.id)
        self._finish_steps()
        self._finish_next()
        return Facts(self._facts, self._count)

    def _finish_steps(self) -> None:
        for step in self._plan:
            self._add(Facet.NEXT, f"plan {norm(step)}", self._plan_id, gold=False)
        for step in self._left():
            self._add(Facet.NEXT, f"left {norm(step)}", self._plan_id)
        for step, source in self._done.items():
            self._add(Facet.NEXT, f"done {norm(step)}", source)

    def _finish_next(self) -> None:
        failing = dict(self._failing)
        for (facet, command), told in self._newest.items():
            if facet is Facet.VERIFICATION and told != status(command, 0):
                failing[command] = 0
        for command, source in failing.items():
            self._add(Facet.NEXT, f"next {norm(mend_text(command))}", source, gold=False)
        said, source = self._next_said
        if said:
            wanted = self._upcoming.said is not None and source > self._plan_id
            self._add(Facet.NEXT, f"next {norm(said)}", source, gold=wanted)
