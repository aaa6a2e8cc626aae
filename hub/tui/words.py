"""Events as blocks of lines: what of the log is shown in a session, tool calls folded with their results.

Owns: which event is shown, what belongs to which tool call, and the words.
Must not: draw, or take any text for markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from hub.domain.event import RecordJson
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import spoken
from hub.domain.text.figures import agent_of
from hub.domain.text.result import bare, from_worktree
from hub.domain.wallclock import local, respoken
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
_HOME = "RUNNING"
"""The state in which no handoff is under way."""
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
    look: str
    text: str
    """Whole; shown in as many lines as it takes, or in one where it folds."""
    body: list[Piece] = attrs.field(factory=list)
    """Lines that are folded away."""
    folds: bool = False
    open: bool = False
    result: str = ""
    """`good`, `bad` or "": how a tool call ended."""
    note: str = ""
    _drawn: tuple[tuple[int, bool], list[Row]] | None = None

    def changed(self) -> None:
        """It is drawn anew."""
        self._drawn = None

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
        self.passed: list[RecordJson] = []
        """What says who was passed by at the start; of a session that was adopted, all that was adopted comes before."""
        self._calls: dict[str, str] = {}
        """Tool call -> the block that it is."""
        self._said = "", ""
        """The last words of an agent or of a failure, and the block that has them."""
        self._who = ""

    def take(self, records: Iterable[RecordJson]) -> None:
        """What happened next."""
        for record in records:
            meta = record.get("meta", {})
            self._take(record, meta)
            if meta.get("leftOut"):
                self.passed.append(record)
        while len(self.blocks) > self._limit:
            del self.blocks[next(iter(self.blocks))]
            self.cut = True

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

    def _take(self, record: RecordJson, meta: EventMeta) -> None:
        call = meta.get("toolId", "")
        if record["tag"] == "tool_result" and call in self._calls and self._calls[call] in self.blocks:
            self._end(self.blocks[self._calls[call]], record, meta)
            return
        if not self._shows(record, meta):
            return
        block = _block(record, meta)
        who = _who(meta)
        if who and who != self._who:
            self._who = who
            key = f"who-{record['id']}"
            self.blocks[key] = Block(key, block.at, "head", who)
        if record["tag"] == "tool_use" and call:
            self._calls[call] = block.key
        self.blocks[block.key] = block

    def _end(self, block: Block, record: RecordJson, meta: EventMeta) -> None:
        failed = bool(meta.get("isError"))
        block.result = "bad" if failed else "good"
        code = meta.get("exitCode")
        block.note = f"exit {code}" if code not in (None, 0) else ""
        text = _message(record).rstrip()
        lines = text.split("\n") if text else []
        block.body += [(from_worktree(line), "bad" if failed else "dim") for line in lines[-_MOST:]]
        block.changed()

    def _shows(self, record: RecordJson, meta: EventMeta) -> bool:
        """Pieces of what comes whole are not shown, nor what hub tells better, nor last words twice."""
        kind = meta.get("type")
        request = kind == "waiting" and meta.get("approvalId") and not meta.get("needsInput")
        if (
            meta.get("delta")
            or request
            or meta.get("amends")
            or record["tag"] == "quota"
            or meta.get("leftOut")
        ):
            return False  # readings are on the page of quotas; who was passed by, with the handoffs
        if record["tag"] == "handoff" and "hfs" not in meta and "to" in meta:
            return _HOME in (meta["from"], meta["to"])  # the states between are the ribbon's
        words, (said, block) = " ".join(record["msg"].split()), self._said
        if record["tag"] == "error" and said and (words == said or words.endswith(f": {said}")):
            self.blocks.pop(block, None)  # told again with what to do
        if record["tag"] in ("text", "error") and kind != "thinking":
            self._said = words, str(record["id"])
        if kind == "system" and meta.get("role") == "user":
            return False  # the reply as the agent's echo
        return not (kind == "result" and said == words)


def _block(record: RecordJson, meta: EventMeta) -> Block:
    tag, text = record["tag"], _message(record).rstrip()
    block = Block(str(record["id"]), time_of(record), _LOOKS.get(tag, ""), for_people(text))
    match tag:
        case "tool_use" | "tool_result":
            block.text, block.folds = from_worktree(text), True
            block.body = [(line, "dim") for line in _details(meta)]
        case "text" if meta.get("type") == "thinking":
            block.look, block.text, block.folds = "dim", text, len(text) > _FOLDED
        case "text" if meta.get("role") == "user":
            block.look, block.text = "mine", f"you: {text}"
        case "text":
            block.text = text
        case "handoff" if meta.get("from") == _HOME:
            block.text = f"handing the work over: {for_people(meta.get('reason', ''))}"
        case "handoff" if meta.get("to") == _HOME:
            block.text = f"{agent_of(meta)} goes on with the work"
        case "error":
            first, _, rest = text.partition("\n")
            block.body = [(line, "bad") for line in rest.split("\n") if line.strip()]
            block.text = f"{first}   next: {meta['hint']}" if meta.get("hint") else first
            block.folds = bool(block.body)
    return block


def _details(meta: EventMeta) -> Iterator[str]:
    """What a tool was asked to do, whole: the command, or what it was given."""
    command, given = meta.get("command", ""), meta.get("input")
    if "\n" in command:
        yield from command.split("\n")
    if isinstance(given, dict):
        for name, value in given.items():
            yield f"{name}:"
            yield from (f"  {line}" for line in str(value).rstrip().split("\n")[:_MOST])


def _who(meta: EventMeta) -> str:
    """The agent, with its account where that has a name; "" for what hub itself says."""
    return agent_of(meta) if "dispatchId" in meta and meta.get("provider") else ""


def time_of(record: RecordJson) -> str:
    """When it happened, in local time."""
    at = record.get("meta", {}).get("at")
    return f"{local(at):%H:%M:%S}" if at else record["ts"][:8]


def for_people(text: str) -> str:
    """A text of hub's own, its instants in local time."""
    return respoken(spoken(text), lambda at: f"{at.astimezone():%H:%M}")


def _message(record: RecordJson) -> str:
    """What it says to a person."""
    text = record["msg"]
    return bare(text) if record["tag"] == "tool_result" else text


def line_of(record: RecordJson) -> Row:
    """One event as one line of the log, whatever it is."""
    who = record.get("meta", {}).get("provider", "")[:12]
    words = " ".join(from_worktree(_message(record)).split())[:500]
    look = _LOOKS.get(record["tag"], "")
    return row(
        (f"{time_of(record)} ", "dim"),
        (f"{record['tag']:<11} ", look),
        (f"{who:<12} ", "dim"),
        words,
        key=str(record["id"]),
    )
