"""Tool calls in time: a row for each, with a bar as SVG.

Owns: the picture.
Must not: know a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import attrs
from markupsafe import Markup

from hub.domain.conversation import ConversationItem, ItemKind
from hub.domain.text.figures import counted
from hub.domain.text.safe import clip
from hub.domain.wallclock import local
from hub.web.page.picture import milliseconds, rect, svg

MOST = 60
"""Calls in the picture, the newest."""
_WIDTH, _HIGH, _LEAST = 400.0, 4.0, 2.0
_WORDS = 120


@attrs.frozen
class ToolUse:
    """One use of a tool."""

    words: str
    begin: float
    end: float | None
    """None = it has not ended, as far as is known."""
    failed: bool


def calls_of(shown: Iterable[ConversationItem]) -> list[ToolUse]:
    """The calls of a conversation, oldest first; those of which no time or no beginning is known are in no picture."""
    found: list[ToolUse] = []
    for item in shown:
        if item.kind is ItemKind.TOOL and item.at != item.ended:
            with suppress(ValueError):
                end = local(item.ended).timestamp() if item.ended else None
                found.append(ToolUse(item.text, local(item.at).timestamp(), end, item.failed))
    return found[-MOST:]


def gantt(calls: Sequence[ToolUse]) -> Markup:
    """Each call a row: its words, a bar from its beginning to its end, and how long it took.

    Words and figures are the page's own text and only the bar is a picture: so they can be read on any screen.
    """
    if not calls:
        return Markup("")
    first = min(call.begin for call in calls)
    last = max(call.begin if call.end is None else call.end for call in calls)
    scale = (_WIDTH - _LEAST) / max(last - first, 0.001)
    rows = Markup("").join(_row(call, first, last, scale) for call in calls)
    words = f"{counted(len(calls), 'tool call')} in {milliseconds(last - first)}"
    return Markup('<ol class="gantt" aria-label="{}">{}</ol>').format(words, rows)


def _row(call: ToolUse, first: float, last: float, scale: float) -> Markup:
    end = last if call.end is None else call.end
    x, width = (call.begin - first) * scale, max(_LEAST, (end - call.begin) * scale)
    spent = milliseconds(end - call.begin) if call.end is not None else "not ended"
    kind = "call open" if call.end is None else "call bad" if call.failed else "call"
    words = clip(call.words.replace("\n", " "), _WORDS)
    bar = svg(
        f"from {milliseconds(call.begin - first)} on",
        _WIDTH,
        _HIGH,
        [rect(0, 0, _WIDTH, _HIGH, "track"), rect(x, 0, width, _HIGH, kind)],
        "bar",
        stretched=True,
    )
    return Markup('<li><code>{}</code>{}<span class="quiet">{}{}</span></li>').format(
        words, bar, "failed, " if call.failed else "", spent
    )
