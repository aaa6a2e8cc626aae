"""What was said around the work: the user's answers, and the outgoing agent's last turns.

Owns: which events are somebody's word on the work, who gave it, and how much of it is kept.
Must not: judge or shorten what it means; a turn is a quotation.

Both are bounded: the newest stay. What the user said binds and stands in full among the constraints too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import attrs

from hub.domain.approval import ApprovalState, By
from hub.domain.contract import Evidence, EvidenceKind
from hub.domain.event import Event, Record, Tag
from hub.domain.intent.activity import Activity
from hub.domain.meta import EventMeta
from hub.domain.text.safe import MARK, clip

MAX_DECIDED = 60
MAX_TURNS = 6
MAX_WORDS = 500
"""Characters of an answer, or of the question before it."""
MAX_TURN = 1500
"""Characters of a turn; its end is kept, where agents sum up."""

_WHO: Mapping[str, str] = {
    By.USER: "the user",
    By.POLICY: "a rule",
    By.TIMEOUT: "nobody answered in time, so hub",
}
_DID: Mapping[str, str] = {ApprovalState.APPROVED: "approved", ApprovalState.DENIED: "denied"}


@attrs.define
class Words:
    """Kept as the events come. Constant work an event."""

    decided: deque[Evidence] = attrs.field(factory=lambda: deque(maxlen=MAX_DECIDED))
    """Replies and answers to requests, oldest first."""
    _turns: deque[Evidence] = attrs.field(factory=lambda: deque(maxlen=MAX_TURNS))
    _speaker: str = ""
    """The dispatch whose turns these are."""
    _piece: str = ""
    _piece_id: int = 0
    _question: str = ""
    _task: bool = False
    """Whether the task is known: the user's first words are that, where nothing else tells it."""

    def take(self, event: Event | Record, seen: Activity) -> None:
        """Take in one event, in the order of the log."""
        meta = event.meta
        if not seen.delta:
            self._end_piece()
        if meta.get("needsInput") and not seen.by_hub:
            self._question = seen.text
        if seen.tag == Tag.TEXT and seen.by_user:
            self._answer(seen)
        elif _spoken(seen) and seen.text.strip():
            self._say(seen, meta.get("dispatchId", ""))
        elif seen.tag == Tag.WAITING and seen.by_hub and meta.get("approvalId"):
            self._resolve(seen, meta)

    @property
    def turns(self) -> tuple[Evidence, ...]:
        """The last turns of who spoke last, oldest first, the one that is being said included."""
        spoken = (*self._turns, *([turn(self._piece, self._piece_id)] if self._piece.strip() else []))
        return spoken[-MAX_TURNS:]

    def _answer(self, seen: Activity) -> None:
        if not self._task:
            self._task = True
            return
        asked = f'asked "{_short(self._question)}", ' if self._question else ""
        self._decide(f"{asked}the user said: {_short(seen.text)}", seen.id)
        self._question = ""

    def _resolve(self, seen: Activity, meta: EventMeta) -> None:
        did = _DID.get(meta.get("state", ""))
        if did is None:
            return
        who = _WHO.get(meta.get("by", ""), "hub")
        note = f" ({_short(meta['note'])})" if meta.get("note") else ""
        self._decide(f"{who} {did}: {_short(meta.get('action', ''))}{note}", seen.id)

    def _decide(self, text: str, source: int) -> None:
        self.decided.append(Evidence(EvidenceKind.DECIDED, text, source))

    def _say(self, seen: Activity, speaker: str) -> None:
        if speaker != self._speaker:
            self._speaker, self._piece = speaker, ""
            self._turns.clear()
        if seen.delta:
            self._piece, self._piece_id = (self._piece + seen.text)[-2 * MAX_TURN :], seen.id
        elif not (
            self._turns and self._turns[-1].text == _ending(seen.text)
        ):  # many tell their last words twice
            self._turns.append(turn(seen.text, seen.id))

    def _end_piece(self) -> None:
        if self._piece.strip():
            self._turns.append(turn(self._piece, self._piece_id))
        self._piece = ""


def turn(text: str, source: int = 0) -> Evidence:
    """A turn, quoted; 0 = it does not stem from the event log."""
    return Evidence(EvidenceKind.TURN, _ending(text), source)


def _spoken(seen: Activity) -> bool:
    """Words to the user: a text, or what an agent says when it is done."""
    return (seen.tag == Tag.TEXT and not seen.thinking) or seen.rests


def _ending(text: str) -> str:
    told = text.strip()
    return told if len(told) <= MAX_TURN else MARK + told[1 - MAX_TURN :]


def _short(text: str) -> str:
    return clip(" ".join(text.split()), MAX_WORDS)
