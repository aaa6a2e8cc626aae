"""How an event looks on a terminal.

Owns: one line of text for one record of the event log, what stands below it (the next step, a failed command's last
words), the whole of it for whoever asks, and people's words for windows and instants.
Must not: decide what is shown; every record has a line.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from hub.domain.conversation import ConversationFold, ItemKind
from hub.domain.event import RecordJson
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import WINDOWS, told
from hub.domain.text.result import bare, from_worktree
from hub.domain.text.safe import clip
from hub.domain.wallclock import seconds

_LOOK: dict[str, tuple[str, str]] = {
    "text": ("  ", "white"),
    "tool_use": ("> ", "cyan"),
    "tool_result": ("< ", "bright_black"),
    "system": ("* ", "green"),
    "quota": ("% ", "magenta"),
    "handoff": ("= ", "yellow"),
    "waiting": (". ", "blue"),
    "error": ("! ", "red"),
}
_STRANGE = ("? ", "white")
_FIRST = "RUNNING"
_WIDTH = 160
_PROVIDER = 12
_INDENT = " " * (8 + 1 + _PROVIDER + 1 + 2)
"""What is below a line begins where the line's words do."""
HANG = 4
"""Where a line goes on that is wider than the terminal."""
_LAST_WORDS = 12
"""Lines below an error."""


def line(record: RecordJson, *, width: int = _WIDTH) -> str:
    """One record as one line: time, who, and what was said or done."""
    text = clip(" ".join(_words(record, record.get("meta", {})).split()), width)
    mark, colour = _LOOK.get(record["tag"], _STRANGE)
    return _who(record) + click.style(mark + text, fg=colour)


def block(record: RecordJson) -> list[str]:
    """The line; below an error also the end of what it was made of (a failed command's output), and the next step."""
    return [
        line(record),
        *(_INDENT + text if text else "" for text in _below(record, record.get("meta", {}))),
    ]


def whole(record: RecordJson) -> list[str]:
    """The record with nothing left out, in its own lines."""
    meta = record.get("meta", {})
    text = _words(record, meta, whole=True)
    output = str(meta.get("output") or "")
    mark, colour = _LOOK.get(record["tag"], _STRANGE)
    first, *rest = text.splitlines() or [""]
    below = [
        *(click.style(each.rstrip(), fg=colour) if each.strip() else "" for each in rest),
        *output.splitlines(),
        *_next(meta),
    ]
    return [
        _who(record) + click.style(mark + first, fg=colour),
        *(_INDENT + each if each else "" for each in below),
    ]


class Screen:
    """What of a log is shown, one record after the other.

    Pieces of streamed text are shown when they are whole; an agent's request for permission once, as what hub makes
    of it; and so an agent's last words, which most repeat as the result of their run.
    """

    def __init__(self) -> None:
        self._fold = ConversationFold()

    def shows(self, record: RecordJson) -> bool:
        """Whether this record, the next of the log, is shown."""
        item, meta = self._fold.take(record), record.get("meta", {})
        if item is None:
            return "detected" in meta
        return not (meta.get("delta") or meta.get("amends") or (item.kind is ItemKind.RESULT and item.again))


def _who(record: RecordJson) -> str:
    who = record.get("meta", {}).get("provider", "")[:_PROVIDER]
    at = seconds(record.get("meta", {}).get("at", record["ts"]))
    return f"{click.style(at, dim=True)} {who:<{_PROVIDER}} "


def _below(record: RecordJson, meta: EventMeta) -> Iterator[str]:
    if _told(record, meta):
        for text in record["msg"].rstrip().splitlines()[1:][-_LAST_WORDS:]:
            yield clip(text.rstrip(), _WIDTH)
    yield from _next(meta)


def _told(record: RecordJson, meta: EventMeta) -> bool:
    """Whether it is an error of hub's own: one sentence, then what it was made of, and a next step."""
    return record["tag"] == "error" and bool(meta.get("hint"))


def _next(meta: EventMeta) -> Iterator[str]:
    if meta.get("hint"):
        yield f"next: {meta['hint']}"


def _words(record: RecordJson, meta: EventMeta, *, whole: bool = False) -> str:
    tag, text = record["tag"], record["msg"]
    match tag:
        case "text" if meta.get("role") == "user":
            text = f"you: {text}"
        case "quota":
            return _spent(text, meta)
        case "handoff" if "to" in meta and meta.get("from") != _FIRST:
            return f"{meta['from']} -> {meta['to']}"  # why was said when it began
        case "handoff":
            return for_people(text)
        case "tool_use" | "tool_result":
            return from_worktree(text if whole or tag == "tool_use" else bare(text))
        case "error" if meta.get("hint") and not whole:
            return text.partition("\n")[
                0
            ]  # what follows is the commands' output, told where each of them failed
    return text


def _spent(text: str, meta: EventMeta) -> str:
    if "used" in meta:
        return f"{gauge(meta['used'])} {meta['used'] / 10:.0f} % of {_quota(meta.get('window', ''))}"
    if "tokensOut" in meta:
        return f"{meta.get('tokensIn', 0):,} tokens in, {meta['tokensOut']:,} out"
    return for_people(text)


def _quota(window: str) -> str:
    return f"the {window_name(window)} quota" if window in WINDOWS else window or "the quota"


def window_name(window: str) -> str:
    """`5-hour` for `five_hour`; a name that needs no translation as it is."""
    return WINDOWS.get(window, window)


def for_people(text: str) -> str:
    """A text of hub's own as people read it now."""
    return told(text, time.time())


def gauge(permille: int, cells: int = 10) -> str:
    """`[####------]`."""
    full = max(0, min(cells, round(permille * cells / 1000)))
    return "[" + "#" * full + "-" * (cells - full) + "]"
