"""The facts of a handoff: what the event log proves, against which a contract is measured.

Owns: the nine facets with their weights, and the extraction of facts from a log.
Must not: look at a contract, or use the fold that fills one (`IntentFold`): a measure that asks the measured
for the answer always agrees. What both share is the reading of a single event and of a single sentence.

Rules:
 1. The facts depend on the set of events alone, not on the order in which they were handed over.
 2. A fact that a later event contradicts is no fact: a command's newest exit status replaces the older one,
    an attempt that worked at last did not fail, a step that is open again is not done.
 3. No fact is left out for shortness: what a contract leaves out must show.
 4. What an amendment tells is a fact as if the event that it amends had told it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import takewhile

import attrs

from hub.domain.event import Event, Record, Tag
from hub.domain.handoff import State
from hub.domain.intent.activity import Activity, Calls, amended, failure_text, read
from hub.domain.intent.fold import MAX_SNIPPET, mend_text, order_text
from hub.domain.intent.listed import finished, listed
from hub.domain.intent.shell import proven, same
from hub.domain.intent.statements import Kind, alike, statements
from hub.domain.intent.upcoming import Upcoming

MAX_REFERENCES = 8
"""More mentions than this make a fact no heavier."""


class Facet(StrEnum):
    """The nine classes of facts."""

    OBJECTIVE = "objective"
    VERIFICATION = "verification"
    ARTIFACTS = "artifacts"
    DECISIONS = "decisions"
    REPOSITORY = "repository"
    COMMANDS = "commands"
    FAILED_ATTEMPTS = "failed_attempts"
    NEXT = "next"
    HARNESS = "harness"


WEIGHTS: Mapping[Facet, int] = {
    Facet.OBJECTIVE: 20,
    Facet.VERIFICATION: 15,
    Facet.ARTIFACTS: 12,
    Facet.DECISIONS: 12,
    Facet.REPOSITORY: 10,
    Facet.COMMANDS: 10,
    Facet.FAILED_ATTEMPTS: 8,
    Facet.NEXT: 8,
    Facet.HARNESS: 5,
}
"""In per cent."""

Key = tuple[Facet, str]


@attrs.define
class Fact:
    """What is known of one fact."""

    sources: set[int] = attrs.field(factory=set)
    """Every event that tells it."""
    rank: int = 0
    """Place of the newest of them among all events, from 1; 0 for what was known before the first."""
    references: int = 0
    gold: bool = True
    """Whether a contract must have it. What is true but not needed supports a claim and is never missed."""


@attrs.frozen
class Facts:
    """All facts of a log."""

    by_key: Mapping[Key, Fact]
    events: int

    def weight(self, key: Key) -> int:
        """Recency times references, as a whole number: the newest event counts twice the oldest."""
        fact = self.by_key[key]
        return (self.events + 1 + fact.rank) * min(fact.references, MAX_REFERENCES)

    def gold(self, facet: Facet) -> list[Key]:
        """What a contract must have of the facet."""
        return [key for key, fact in self.by_key.items() if key[0] is facet and fact.gold]

    def supports(self, key: Key, source: int | None) -> bool:
        """Whether the log tells it, and tells it there; a `source` of None asks for no place."""
        fact = self.by_key.get(key)
        return fact is not None and (source is None or source in fact.sources)


def norm(text: str) -> str:
    """Two texts that differ in case and white space only are the same."""
    return " ".join(text.casefold().split())


def status(command: str, exit_code: int | None) -> str:
    """A command with its exit status, as one fact."""
    return f"{norm(command)} -> {'unknown' if exit_code is None else exit_code}"


def facts_of(
    events: Iterable[tuple[int, Event | Record]],
    *,
    goal: str = "",
    acceptance: Iterable[str] = (),
    handoff_id: str = "",
    root: str = "",
) -> Facts:
    """The facts of a log up to the moment when the handoff's contract was written.

    Args:
        events: Ids and events, in any order.
        goal: The user's task; where it is empty, the user's first words in the log.
        acceptance: The user's acceptance commands.
        handoff_id: The handoff whose move to ENVELOPE_BUILT ends the log; what comes after is not looked at.
        root: The worktree.
    """
    gathering = _Gathering(goal)
    for command in acceptance:
        gathering.add(Facet.OBJECTIVE, f"accept {norm(command)}", 0)
    told = [read(number, event, root) for number, event in sorted(dict(events).items())]
    told = list(takewhile(lambda seen: not (handoff_id and _builds(seen, handoff_id)), told))
    late = {seen.amends: seen for seen in told if seen.amends}
    for seen in told:
        if not seen.amends:
            gathering.take(amended(seen, late[seen.id]) if seen.id in late else seen)
    return gathering.finish()


def _builds(seen: Activity, handoff_id: str) -> bool:
    return seen.handoff_id == handoff_id and seen.to_state == State.ENVELOPE_BUILT


class _Gathering:
    """One pass over the log."""

    def __init__(self, goal: str) -> None:
        self.facts: dict[Key, Fact] = {}
        self.count = 0
        self.goal = ""
        self.calls = Calls()
        self.streamed: list[str] = []
        self.streamed_id = 0
        self.newest: dict[tuple[Facet, str], str] = {}
        self.plan: tuple[str, ...] = ()
        self.plan_id = 0
        self.remaining: tuple[str, ...] | None = None
        self.kept = False
        self.done: dict[str, int] = {}
        self.next_said: tuple[str, int] = ("", 0)
        self.upcoming = Upcoming()
        self.failing: dict[str, int] = {}
        if goal:
            self.set_goal(goal, 0)

    def set_goal(self, goal: str, source: int) -> None:
        self.goal = goal
        self.add(Facet.OBJECTIVE, f"goal {norm(goal)}", source)
        self.mine(goal, source, by_user=True)

    def add(self, facet: Facet, text: str, source: int, *, gold: bool = True) -> None:
        fact = self.facts.setdefault((facet, text), Fact(gold=gold))
        fact.sources.add(source)
        fact.rank = self.count
        fact.references += 1
        fact.gold = fact.gold or gold

    def replace(self, facet: Facet, what: str, text: str, source: int) -> None:
        """The newest word on `what` holds; "" when there is nothing left to say."""
        before = self.newest.pop((facet, what), None)
        old = self.facts.pop((facet, before), None) if before is not None else None
        if text:
            self.newest[facet, what] = text
            self.add(facet, text, source)
            fact = self.facts[facet, text]
            fact.references += old.references if old else 0

    def take(self, seen: Activity) -> None:
        self.count += 1
        if not seen.delta:
            self.flush()
        if not seen.by_hub:
            self.lists(seen)
        if seen.snapshot:
            self.replace(Facet.REPOSITORY, "snapshot", seen.snapshot, seen.id)
        if seen.by_hub and seen.command and (seen.exit_code is not None or seen.tag == Tag.ERROR):
            self.replace(Facet.VERIFICATION, seen.command, status(seen.command, seen.exit_code), seen.id)
        if seen.tag == Tag.TEXT and not seen.thinking:
            self.words(seen)
        elif seen.tag == Tag.TOOL_USE:
            self.calls.begin(seen)
            if seen.writes and seen.excerpt:
                self.add(Facet.ARTIFACTS, code(seen.path, seen.excerpt), seen.id, gold=False)
        elif seen.tag == Tag.TOOL_RESULT:
            self.result(self.calls.complete(seen))
        elif seen.rests:
            self.upcoming.rest()

    def words(self, seen: Activity) -> None:
        if seen.by_user and not self.goal:
            self.set_goal(seen.text, seen.id)
        elif seen.by_user:
            self.add(Facet.OBJECTIVE, f"order {norm(order_text(seen))}", seen.id)
        elif seen.delta:
            self.streamed.append(seen.text)
            self.streamed_id = seen.id
        else:
            self.mine(seen.text, seen.id, by_user=False)

    def flush(self) -> None:
        text = "".join(self.streamed)
        self.streamed.clear()
        self.mine(text, self.streamed_id, by_user=False)

    def mine(self, text: str, source: int, *, by_user: bool) -> None:
        if not by_user:
            self.steps(text, source)
        for found in statements(text, by_user=by_user):
            if found.kind is Kind.NEXT:
                self.next_said = (found.text, source)
                self.upcoming.say(found.text, source)
            elif found.kind is Kind.DO_NOT_REDO:
                self.upcoming.done(found.text)
                self.add(Facet.NEXT, f"done {norm(found.text)}", source)
                self.over(source, {step for step in self.left() if alike(step) == alike(found.text)})
            else:
                self.add(Facet.DECISIONS, norm(found.text), source)

    def steps(self, text: str, source: int) -> None:
        """A plan in prose, of an agent that keeps no list or has come to its end."""
        if self.kept and self.left():
            return
        if (found := listed(text)) is not None:
            self.kept = False
            self.planned(found.steps if found.whole else None, found.open, source)
        numbers, left = finished(text), self.left()
        self.over(
            source, {step for number, step in enumerate(self.plan, 1) if number in numbers and step in left}
        )

    def left(self) -> tuple[str, ...]:
        return self.plan if self.remaining is None else self.remaining

    def over(self, source: int, steps: set[str]) -> None:
        if steps and not self.kept:
            self.planned(None, tuple(step for step in self.left() if step not in steps), source)

    def proven(self, seen: Activity) -> None:
        """What a line proves of the commands in it: such a one is told by the line."""
        passed = proven(seen.command)
        for command in [one for one in self.failing if same(one) in passed]:
            del self.failing[command]
            self.replace(Facet.COMMANDS, command, "", seen.id)
            self.replace(Facet.FAILED_ATTEMPTS, command, "", seen.id)

    def result(self, seen: Activity) -> None:
        self.upcoming.ended(seen)
        if seen.command and not seen.failed and seen.exit_code is not None:
            self.proven(seen)
        for path in seen.redirected if not seen.failed else ():
            self.add(Facet.ARTIFACTS, path, seen.id, gold=False)
        if seen.command:
            self.replace(Facet.COMMANDS, seen.command, status(seen.command, seen.exit_code), seen.id)
            self.failing.pop(seen.command, None)
            if seen.failed:
                self.failing[seen.command] = seen.id
        what = seen.command or f"{seen.tool} {seen.path}"
        self.replace(Facet.FAILED_ATTEMPTS, what, norm(failure_text(seen)) if seen.failed else "", seen.id)
        if seen.writes and not seen.failed:
            self.add(Facet.ARTIFACTS, seen.path, seen.id, gold=not seen.path.startswith("/"))

    def lists(self, seen: Activity) -> None:
        for skill in seen.skills:
            self.add(Facet.HARNESS, f"skill {norm(skill)}", seen.id)
        for server in seen.mcps:
            self.add(Facet.HARNESS, f"server {norm(server)}", seen.id)
        if seen.model:
            self.replace(Facet.HARNESS, "model", f"model {norm(seen.model)}", seen.id)
        if seen.plan is not None or seen.remaining is not None:
            self.kept = True
            self.planned(seen.plan, seen.remaining, seen.id)

    def planned(self, plan: tuple[str, ...] | None, remaining: tuple[str, ...] | None, source: int) -> None:
        self.plan_id = source
        if plan is not None:
            self.plan = plan
        if remaining is None:
            return
        self.remaining = remaining
        if plan is None:
            self.plan = tuple(dict.fromkeys((*self.plan, *remaining)))
        for step in remaining:
            self.done.pop(step, None)
        for step in self.plan:
            if step not in remaining:
                self.done.setdefault(step, source)

    def finish(self) -> Facts:
        """What only the end of the log decides: the code in flight and what is next."""
        self.flush()
        for call in self.calls.unfinished:
            if call.writes:
                self.add(Facet.ARTIFACTS, call.path, call.id, gold=not call.path.startswith("/"))
                if call.excerpt:
                    self.add(Facet.ARTIFACTS, code(call.path, call.excerpt), call.id)
        for step in self.plan:
            self.add(Facet.NEXT, f"plan {norm(step)}", self.plan_id, gold=False)
        for step in self.plan if self.remaining is None else self.remaining:
            self.add(Facet.NEXT, f"left {norm(step)}", self.plan_id)
        for step, source in self.done.items():
            self.add(Facet.NEXT, f"done {norm(step)}", source)
        for command, source in self.failing.items():
            self.add(Facet.NEXT, f"next {norm(mend_text(command))}", source, gold=False)
        said, source = self.next_said
        if said:
            wanted = self.upcoming.said is not None and source > self.plan_id
            self.add(Facet.NEXT, f"next {norm(said)}", source, gold=wanted)
        return Facts(self.facts, self.count)


def code(path: str, excerpt: str) -> str:
    """A piece of code at its place, as one fact."""
    return f"code {path} {norm(excerpt[:MAX_SNIPPET])}"
