"""A plan in prose: the steps that an agent without a tool for it writes down.

Owns: which list in a text is a plan, which of its steps are marked done, and which are said to be.
Must not: look at anything but text, or claim to understand it.

Theory of operation. Many lists are none: what was found, what was done, what the user may do. So a list counts where its
form says so (boxes to tick), or the line before it does ("Plan:", "Remaining:"). The last such list of a text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import attrs

from hub.domain.intent.statements import EMPHASIS
from hub.domain.text.patterns import late
from hub.domain.text.typography import typed

MAX_STEPS = 50
MAX_STEP = 400
_LEAST = 2
"""A plan of one step is a sentence."""

_ITEM = late(r"(?P<indent>\s*)(?:[-*+•]|\d{1,2}[.)])\s+(?:\[(?P<box>[ xX✓✔~-])\]\s*)?(?P<text>\S.*)")
_TICK = late(
    r"^(?:✅|✔️?|☑️?)\s*|\s*(?:✅|✔️?|☑️?)$|\s*(?:\(|[-\u2013\u2014:]\s*)(?:done|completed?)\)?\.?$",
    re.IGNORECASE,
)
_STRUCK = late(r"~~(.+)~~")
_PLAN = late(r"\b(?:plan|steps?|to-?dos?|to do|approach|tasks?)\b", re.IGNORECASE)
_LEFT = late(
    r"^(?:(?:and )?what(?:'s| is| remains)?\b.*\b(?:left|open|missing|remains)|(?:still )?(?:left|remaining|to ?do|open)"
    r"|still|next(?: steps| up)?)\b",
    re.IGNORECASE,
)
_NOT_MINE = late(
    r"\b(?:did|done|was|were|been|have|has|had|made|completed|finished|changed|took|followed|summary|you|your)\b"
    r"|\bto (?:reproduce|verify|install|run|use|test|try)\b",
    re.IGNORECASE,
)
_SHORT = 6
"""Words of a line that may be a title, without a colon."""
_FINISHED = late(
    r"\bsteps? (?P<first>\d{1,2})(?: ?(?P<to>,|and|&|to|through|-|\u2013) ?(?P<last>\d{1,2}))?(?: of \d{1,2})?"
    r"(?: (?:is|are))?(?: now)? (?:done|completed?|finished)\b",
    re.IGNORECASE,
)


@attrs.frozen
class Listed:
    """A list of steps."""

    steps: tuple[str, ...]
    open: tuple[str, ...]
    """Those that are not marked done, in their order."""
    whole: bool
    """False: it says only what is left."""


@attrs.frozen
class _Item:
    indent: int
    text: str
    box: bool
    done: bool


@lru_cache(maxsize=512)  # as for `statements`
def listed(text: str) -> Listed | None:
    """The plan that stands in the text; None where there is none."""
    found = None
    for intro, items in _lists(text):
        boxes = sum(item.box for item in items)
        left = bool(_LEFT().match(intro)) and not _NOT_MINE().search(intro)
        planned = bool(_PLAN().search(intro)) and not _NOT_MINE().search(intro)
        if boxes >= _LEAST or ((left or planned) and len(items) >= (1 if left else _LEAST)):
            steps = dict.fromkeys(item.text for item in items[:MAX_STEPS])
            done = {item.text for item in items if item.done}
            rest = tuple(step for step in steps if step not in done)
            whole = boxes >= _LEAST or not left
            found = Listed(tuple(steps) if whole else rest, rest, whole)
    return found


@lru_cache(maxsize=512)  # as for `statements`
def finished(text: str) -> frozenset[int]:
    """The numbers of the steps that the text says are done: "Step 2 is done", "Steps 1 and 2 are complete"."""
    if "step" not in text.lower():
        return frozenset()
    numbers: set[int] = set()
    for found in _FINISHED().finditer(text):
        first, last = int(found["first"]), int(found["last"] or found["first"])
        pair = found["to"] in (",", "and", "&")
        numbers.update((first, last) if pair else range(first, last + 1))
    return frozenset(numbers)


def _lists(text: str) -> Iterator[tuple[str, Sequence[_Item]]]:
    """Each list with the line before it, "" where that introduces nothing."""
    intro, items, fenced = "", list[_Item](), False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not line.strip():
            continue
        item = _item(line)
        if item is not None:
            items += [item] if not items or item.indent <= items[0].indent else []
        elif not (items and line[:1].isspace()):  # else it goes on with the item
            if items:
                yield intro, items
            intro, items = _introduces(line), []
    if items:
        yield intro, items


def _item(line: str) -> _Item | None:
    parts = _ITEM().fullmatch(typed(line[: 2 * MAX_STEP]))
    if parts is None:
        return None
    box, words = parts["box"], EMPHASIS().sub("", parts["text"]).strip()
    plain = _TICK().sub("", words)
    struck = _STRUCK().fullmatch(plain)
    done = (box or "") in ("x", "X", "✓", "✔") or plain != words or struck is not None
    told = (struck[1] if struck else plain).strip()[:MAX_STEP]
    return _Item(len(parts["indent"]), told, box is not None, done) if told else None


def _introduces(line: str) -> str:
    heading = line.lstrip().startswith(("#", "**", "__"))
    if not heading and ":" not in line:
        return ""
    words = EMPHASIS().sub("", typed(line)).strip().lstrip("#").strip()
    titled = heading and len(words.split()) <= _SHORT
    return words if words.endswith(":") or titled else ""
