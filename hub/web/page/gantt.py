"""Tool calls in time, as SVG.

Owns: which result belongs to which call, and the picture.
Must not: know a tool.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from markupsafe import Markup

from hub.api.events import EventRecord
from hub.domain.event import Tag
from hub.domain.text.safe import clip
from hub.web.page.picture import milliseconds, number, rect, svg
from hub.web.page.words import instant

MOST = 60
"""Calls in the picture, the newest."""
_ROW, _WIDTH, _LABEL = 16, 800.0, 220.0
_WORDS = 34


@attrs.frozen
class Call:
    """One use of a tool."""

    tool: str
    words: str
    begin: float
    end: float | None
    """None = it has not ended, as far as is known."""
    failed: bool
    provider: str


def calls_of(events: Sequence[EventRecord]) -> list[Call]:
    """The calls of a stream, oldest first; events without a time are in no picture."""
    calls: dict[object, Call] = {}
    for event in events:
        at = event.meta.get("at")
        key = event.meta.get("toolId", event.id)
        if not isinstance(at, str) or not isinstance(key, str | int):
            continue
        try:
            moment = instant(at).timestamp()
        except ValueError:
            continue
        if event.tag == Tag.TOOL_USE:
            tool = str(event.meta.get("tool", "tool"))
            calls[key] = Call(
                tool, event.msg, moment, None, failed=False, provider=str(event.meta.get("provider", ""))
            )
        elif event.tag == Tag.TOOL_RESULT and key in calls:
            failed = bool(event.meta.get("isError") or event.meta.get("exitCode"))
            calls[key] = attrs.evolve(calls[key], end=moment, failed=failed)
    return list(calls.values())[-MOST:]


def gantt(calls: Sequence[Call]) -> Markup:
    """Each call a bar from its beginning to its end."""
    if not calls:
        return Markup("")
    first = min(call.begin for call in calls)
    last = max(call.begin if call.end is None else call.end for call in calls)
    scale = (_WIDTH - _LABEL - 70) / max(last - first, 0.001)
    parts: list[Markup] = []
    for place, call in enumerate(calls):
        y = place * _ROW
        end = last if call.end is None else call.end
        x, width = _LABEL + (call.begin - first) * scale, max(2.0, (end - call.begin) * scale)
        spent = milliseconds(end - call.begin) if call.end is not None else "not ended"
        kind = "call open" if call.end is None else "call bad" if call.failed else "call"
        parts += [
            _text(0, y + 12, clip(call.words.replace("\n", " "), _WORDS)),
            rect(x, y + 3, width, _ROW - 6, kind, words=f"{clip(call.words, 200)}: {spent}"),
            _text(x + width + 4, y + 12, spent),
        ]
    words = f"{len(calls)} tool calls in {milliseconds(last - first)}"
    return svg(words, _WIDTH, len(calls) * _ROW + 2, parts, "gantt")


def _text(x: float, y: float, words: str) -> Markup:
    return Markup('<text x="{}" y="{}">{}</text>').format(number(x), number(y), words)
