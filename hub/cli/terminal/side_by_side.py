"""The sessions of a pipeline's run in one view: each is a conversation of its own, and every line says whose it is.

Owns: which node a record belongs to, where another one takes the floor, and what the bottom line says of all of them.
Must not: draw, or know what a record of a session means.
Tests: tests/hub/cli/terminal/test_side_by_side.py

Two nodes may work with the same agent at the same time: its name alone says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from hub.cli.terminal.clock import Clock
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.items import AskItem, Heading, Item, ToldItem
from hub.domain.event import RecordJson


@attrs.define
class SideBySide:
    """Takes the records of a daemon's log; those of sessions that are none of the run's are left out.

    Args:
        run_id: The run that is watched.
        clock: How instants are said.
    """

    run_id: str
    clock: Clock = attrs.field(factory=Clock)
    answers: bool = False
    """Requests are told: no key answers for one of several."""
    since: str = ""
    """When the first session began; ISO."""
    _nodes: dict[str, str] = attrs.field(factory=dict)
    """By session."""
    _sessions: dict[str, Conversation] = attrs.field(factory=dict)
    _own: Conversation = attrs.field(init=False)
    """What is of no session: the run's own words, and the daemon's."""
    _floor: str = ""
    """The session that spoke last."""
    _working: list[str] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._own = Conversation(clock=self.clock)

    def take(self, record: RecordJson) -> list[Item]:
        """What the next record of the log adds to what is shown."""
        meta = record.get("meta", {})
        session = meta.get("sessionId", "")
        if not session or "node" in meta:
            return self._own.take(record)
        if meta.get("runId") == self.run_id and session not in self._nodes:
            self._starts(session, meta.get("role", session))
        if not self.has(session):
            return []
        items = self._said(session, lambda known: known.take(record))
        self.since = self.since or self._sessions[session].since
        if "ended" in meta and session in self._working:
            self._working.remove(session)
        return items

    def has(self, session: str) -> bool:
        """Whether a session is one of the run's."""
        return session in self._nodes

    def rest(self) -> list[Item]:
        """What is left over when nothing more comes."""
        return [item for session in self._sessions for item in self._said(session, Conversation.rest)]

    def _starts(self, session: str, node: str) -> None:
        self._nodes[session] = node
        self._sessions[session] = Conversation(ends_told=True, clock=self.clock)
        self._working.append(session)

    def _said(self, session: str, tell: Callable[[Conversation], list[Item]]) -> list[Item]:
        """What a session's conversation adds: below a heading of its own, where another one has spoken since."""
        known = self._sessions[session]
        if session != self._floor:
            known.agent = ""
        items = list(self._named(session, tell(known)))
        if items:
            self._floor = session
        return items

    def _named(self, session: str, items: list[Item]) -> Iterator[Item]:
        for item in items:
            match item:
                case Heading():
                    yield attrs.evolve(item, agent=f"{self._nodes[session]}: {item.agent}")
                case ToldItem():
                    yield attrs.evolve(item, text=f"{self._nodes[session]}: {item.text}")
                case _:
                    yield item

    # --- what stands at the moment --------------------------------------------------------------------

    @property
    def _alone(self) -> Conversation:
        """The one that works; where several do, one that says nothing: their words would be mixed."""
        return self._sessions[self._working[0]] if len(self._working) == 1 else Conversation(clock=self.clock)

    @property
    def partial(self) -> str:
        """Text that is still being written."""
        return self._alone.partial

    @property
    def tasks(self) -> tuple[tuple[str, bool], ...]:
        """The plan, and what of it is done."""
        return self._alone.tasks

    @property
    def quota(self) -> str:
        """Of the account that works; "" = not told."""
        return self._alone.quota

    @property
    def tokens(self) -> int:
        """All of the run so far, in and out."""
        return sum(known.tokens for known in self._sessions.values())

    @property
    def standing(self) -> str:
        """What each node that works waits for, or does, in a few words."""
        doing = (f"{self._nodes[one]}: {self._sessions[one].standing}" for one in self._working)
        return ", ".join(doing) or ("between two nodes" if self._nodes else "starting")

    @property
    def asks(self) -> list[AskItem]:
        """What waits for an answer."""
        return [ask for known in self._sessions.values() for ask in known.asks]
