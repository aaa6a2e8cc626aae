"""A session's conversation as blocks of lines, and an event as one line of the log.

Owns: which things of the conversation are shown here, what of each is folded away, and the looks.
Must not: draw, read a record's `meta` for what the conversation says, or take any text for markup.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import attrs

from hub.domain.conversation import ConversationFold, ConversationItem, ItemKind
from hub.domain.event import RecordJson
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import told
from hub.domain.text.result import bare, from_worktree
from hub.domain.wallclock import seconds
from hub.tui.look import Look
from hub.tui.rows import Piece, Row, row, wrapped

_LOOKS = {
    "system": "good",
    "quota": "info",
    "handoff": "warn",
    "waiting": "mine",
    "error": "bad",
    "tool_use": "info",
    "tool_result": "dim",
    "text": "",
}
"""Of an event in the log, by its tag."""
_ITEM_LOOKS = {
    ItemKind.SAID: "",
    ItemKind.THOUGHT: "dim",
    ItemKind.USER: "mine",
    ItemKind.TOOL: "info",
    ItemKind.GIVEN: "warn",
    ItemKind.TAKEN: "warn",
    ItemKind.SCORE: "warn",
    ItemKind.QUESTION: "mine",
    ItemKind.REQUEST: "mine",
    ItemKind.SETTLED: "mine",
    ItemKind.WAIT: "mine",
    ItemKind.RETRY: "mine",
    ItemKind.ERROR: "bad",
}
"""Of a thing of the conversation; of others as of hub's own words."""
_ELSEWHERE = frozenset({ItemKind.READING, ItemKind.LEFT_OUT, ItemKind.MOVED})
"""Readings stand on the page of quotas, a handoff's states and who was passed by with the handoffs."""
_TIMED = frozenset({ItemKind.GIVEN, ItemKind.TAKEN, ItemKind.SCORE, ItemKind.WAIT, *_ELSEWHERE})
"""Hub's own words about quotas and instants alone; others may quote what a user or an agent wrote."""
_TIME = 9
"""Columns of the time of day and the blank after it."""
_FOLDED = 12
"""Longer texts of an agent's thoughts are one line until they are unfolded."""
_MOST = 400
"""Lines of one result that are kept to be shown."""


@attrs.define
class Block:
    """One thing that happened: a line, and what is folded below it."""

    key: str
    at: str
    look: str = ""
    text: str = ""
    """Whole; shown in as many lines as it takes, or in one where it folds."""
    body: list[Piece] = attrs.field(factory=list)
    """Lines that are folded away."""
    folds: bool = False
    open: bool = False
    result: str = ""
    """`good`, `bad` or "": how a tool call ended."""
    note: str = ""
    _drawn: tuple[tuple[int, bool], list[Row]] | None = None

    def tell(self, item: ConversationItem) -> None:
        """It is this, as far as it has come."""
        self.look, self._drawn = _ITEM_LOOKS.get(item.kind, "good"), None
        text = item.text.rstrip()
        match item.kind:
            case ItemKind.TOOL:
                self.text, self.folds, self.body = text, True, [(line, "dim") for line in _details(item.meta)]
                self._end(item)
            case ItemKind.SAID:
                self.text = text
            case ItemKind.THOUGHT:
                self.text, self.folds = text, len(text) > _FOLDED
            case ItemKind.USER:
                self.text = f"you: {text}"
            case ItemKind.ERROR:
                first, _, rest = text.partition("\n")
                self.body = [(line, "bad") for line in rest.split("\n") if line.strip()]
                hint = f"   next: {item.meta['hint']}" if item.meta.get("hint") else ""
                self.text, self.folds = (for_people(first) if hint else first) + hint, bool(self.body)
            case _:
                self.text = for_people(text) if item.kind in _TIMED else text
                self.look = "bad" if item.kind is ItemKind.CHECK and item.failed else self.look

    def _end(self, item: ConversationItem) -> None:
        if item.result is None:
            return
        look = "bad" if item.failed else "dim"
        self.result = "bad" if item.failed else "good"
        code = item.meta.get("exitCode")
        self.note = f"exit {code}" if code else ""
        lines = item.result.rstrip().split("\n") if item.result.strip() else []
        self.body += [(line, look) for line in lines[-_MOST:]]

    def rows(self, width: int, look: Look) -> list[Row]:
        """Its lines, each at most `width` columns."""
        if self._drawn is None or self._drawn[0] != (width, self.open):
            self._drawn = (width, self.open), list(self._rows(width, look))
        return self._drawn[1]

    def _rows(self, width: int, look: Look) -> Iterator[Row]:
        room = max(10, width - _TIME - 3)
        if not self.folds:
            first, *rest = wrapped(self.text, room)
            yield row((f"{self.at} ", "dim"), (first, self.look), key=self.key)
            for line in rest:
                yield row((" " * _TIME + line, self.look))
            return
        mark = look.unfolded if self.open else look.folded
        ended = {"good": f" {look.good}", "bad": f" {look.bad}"}.get(self.result, "")
        words = " ".join(self.text.split())
        head = words if len(words) <= room - 14 else words[: room - 15] + ("~" if look.ascii else "…")
        yield row(
            (f"{self.at} ", "dim"),
            (f"{mark} {head}", self.look),
            (ended, self.result),
            (f" {self.note}" if self.note else "", "dim"),
            key=self.key,
        )
        if self.open:
            yield from self._unfolded(words != head, room)

    def _unfolded(self, whole: bool, room: int) -> Iterator[Row]:  # noqa: FBT001  # of this class alone
        indent = " " * (_TIME + 2)
        if whole or "\n" in self.text.strip():
            for line in wrapped(self.text, room - 2):
                yield row((indent + line, self.look))
        for text, style in self.body:
            for line in wrapped(text, room - 2):
                yield row((indent + line, style))


class Story:
    """The blocks of one session, oldest first, at most so many."""

    def __init__(self, limit: int = 4000) -> None:
        self.blocks: dict[str, Block] = {}
        self._limit = limit
        self.cut = False
        """Whether there was more before the first block."""
        self._fold = ConversationFold()
        self._who = ""

    def take(self, records: Iterable[RecordJson]) -> None:
        """What happened next."""
        for record in records:
            item = self._fold.take(record)
            if item is not None and _shown(item):
                self._take(item)
        while len(self.blocks) > self._limit:
            del self.blocks[next(iter(self.blocks))]
            self.cut = True

    def _take(self, item: ConversationItem) -> None:
        if item.again is not None and item.kind is ItemKind.ERROR:
            self.blocks.pop(item.again.key, None)  # told again with what to do
        if item.key not in self.blocks:
            at = seconds(item.at)
            if item.who and item.who != self._who:
                self._who = item.who
                self.blocks[f"who-{item.key}"] = Block(f"who-{item.key}", at, "head", item.who)
            self.blocks[item.key] = Block(item.key, at)
        self.blocks[item.key].tell(item)

    def rows(self, width: int, look: Look) -> list[Row]:
        """All of it."""
        before = [row(("What came before is in the log: hub logs", "dim"))] if self.cut else []
        return before + [line for block in self.blocks.values() for line in block.rows(width, look)]

    def fold(self, key: str) -> bool:
        """Unfold a block, or fold it again; whether there was anything to fold."""
        block = self.blocks.get(key)
        if block is None or not block.folds:
            return False
        block.open = not block.open
        return True

    def fold_all(self) -> None:
        """Unfold everything; where everything is, fold it."""
        folding = [block for block in self.blocks.values() if block.folds]
        opened = not all(block.open for block in folding)
        for block in folding:
            block.open = opened


def _shown(item: ConversationItem) -> bool:
    """Whether it is for this place: no piece of a text that is being written, and no last words twice."""
    text = item.kind in (ItemKind.SAID, ItemKind.THOUGHT)
    twice = item.kind is ItemKind.RESULT and (item.again is not None or not item.text.strip())
    return not (item.kind in _ELSEWHERE or (text and not item.whole) or twice or item.meta.get("amends"))


def _details(meta: EventMeta) -> Iterator[str]:
    """What a tool was asked to do, whole: the command, or what it was given."""
    command, given = meta.get("command", ""), meta.get("input")
    if "\n" in command:
        yield from command.split("\n")
    if isinstance(given, dict):
        for name, value in given.items():
            yield f"{name}:"
            yield from (f"  {line}" for line in str(value).rstrip().split("\n")[:_MOST])


def for_people(text: str) -> str:
    """A text of hub's own as people read it now."""
    return told(text, time.time())


def line_of(record: RecordJson) -> Row:
    """One event as one line of the log, whatever it is."""
    meta, text = record.get("meta", {}), record["msg"]
    who = meta.get("provider", "")[:12]
    item = ConversationFold().take(record)
    if item is not None and (item.kind in _TIMED or (item.kind is ItemKind.ERROR and meta.get("hint"))):
        text = for_people(text)
    words = " ".join(from_worktree(bare(text) if record["tag"] == "tool_result" else text).split())[:500]
    look = _LOOKS.get(record["tag"], "")
    return row(
        (f"{seconds(meta.get('at', record['ts']))} ", "dim"),
        (f"{record['tag']:<11} ", look),
        (f"{who:<12} ", "dim"),
        words,
        key=str(record["id"]),
    )
