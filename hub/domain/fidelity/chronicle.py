"""All that a handoff needs of a session's log, kept as the events come.

Owns: the folds that run over the same events, each event read once, and the facts as they stood when a contract was written.
Must not: read a log, or look at a contract.

A handoff must not cost more the longer a session is: so nothing is read back when one begins. Who feeds the log once more
from its start has the same chronicle: an event that was fed before is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from hub.domain.contract import Evidence
from hub.domain.event import Event, Record
from hub.domain.fidelity.fact import Facts
from hub.domain.fidelity.gold import GoldFold, builds
from hub.domain.fidelity.said import Words
from hub.domain.intent.activity import read
from hub.domain.intent.fold import Intent, IntentFold

_MARKS = 3
"""Handoffs whose facts are kept: they are asked for right after, and before the next one begins."""


@attrs.frozen(kw_only=True)
class Subject:
    """What is known of a session before its first event.

    Attributes:
        session_id: Its id.
        goal: The user's task; where it is empty, the user's first words in the log.
        acceptance: The user's acceptance commands.
        skills: What the user's profile wants used.
        root: The worktree; files below it are named relative to it.
    """

    session_id: str
    goal: str = ""
    acceptance: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    root: str = ""


class Chronicle:
    """What the log of one session tells so far."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.last_id = 0
        """The last event that was taken in."""
        self._intent = IntentFold(subject.goal, subject.root)
        self._gold = GoldFold(subject.goal, subject.acceptance, subject.skills)
        self._words = Words(task=bool(subject.goal))
        self._marks: dict[str, Facts] = {}

    def feed(self, id: int, event: Event | Record) -> None:
        """Take in one event. Ids rise; one that is not above the last was fed before."""
        if id <= self.last_id:
            return
        self.last_id = id
        seen = read(id, event, self.subject.root)
        handoff = builds(seen)
        if handoff and handoff not in self._marks:
            self._marks[handoff] = self._gold.facts()
            if len(self._marks) > _MARKS:
                del self._marks[next(iter(self._marks))]
        self._intent.take(seen)
        self._gold.take(seen)
        self._words.take(event, seen)

    def feed_all(self, records: Iterable[Record]) -> None:
        """The same for records of the log, by their ids."""
        for record in records:
            self.feed(record.id, record)

    def intent(self) -> Intent:
        """The intent as of the last event."""
        return self._intent.intent()

    def words(self) -> tuple[Evidence, ...]:
        """What the user decided, and the last turns of the agent that spoke last."""
        return (*self._words.decided, *self._words.turns)

    def facts(self, handoff_id: str) -> Facts:
        """The facts as they were when the handoff's contract was written; as of the last event where none was."""
        return self._marks.get(handoff_id) or self._gold.facts()
