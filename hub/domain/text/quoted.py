"""Words that hub did not write, fenced and given room.

Owns: the fence, and how much of each part is shown where not all of it fits.
Must not: know what the parts are about, or leave a line of theirs without its bar.

Parts get room in the order in which they are given: each what it needs up to its cap, as long as a little is left for those
after it. What is not shown is counted, and said to stand in the signed form.

Tests: tests/hub/domain/test_brief.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from hub.domain.text.safe import MARK, clean, clip

_BAR = "| "
_LITTLE = 400
"""Bytes that are kept for each part that still comes."""
MAX_ITEM = 500

Item = tuple[str, ...]
"""The lines of one item; of more than one the first is its head."""


@attrs.frozen
class Part:
    """One titled fence.

    Attributes:
        title: Hub's own words.
        whose: Whose words it holds.
        items: What it says.
        field: Where the signed form has all of it.
        cap: Bytes that it gets at most.
        first: Where not all fits, the head is kept, of the list and of an item; else the (newest) end.
    """

    title: str
    whose: str
    items: Sequence[Item]
    field: str
    cap: int
    first: bool = False


def fitted(parts: Iterable[Part], word: str, room: int) -> tuple[list[str], list[str]]:
    """The parts as text, and what is not shown at all: `title (12, in field)`.

    Args:
        parts: Those without an item are passed over.
        word: The fences' boundary, which no line of an item may hold.
        room: Bytes for all of them, with the empty lines between them.
    """
    left = [part for part in parts if part.items]
    shown, unseen = [], []
    while left:
        part, *left = left
        text = _render(part, word, min(part.cap, room - _LITTLE * len(left)))
        if text:
            shown.append(text)
            room -= size(text) + 2
        else:
            unseen.append(f"{part.title} ({len(part.items)}, in `{part.field}`)")
    return shown, unseen


def line(text: str, limit: int = MAX_ITEM) -> str:
    """A text in one line, cleaned and cut."""
    return clip(" ".join(clean(text).split()), limit)


def lines(text: str) -> Item:
    """A text's own lines, cleaned."""
    return tuple(clean(text).strip("\n").split("\n"))


def bullet(text: str) -> Item:
    """An item of one line."""
    return (f"- {line(text)}",)


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode())


def cut(text: str, limit: int) -> str:
    """The text's head in at most so many bytes, the mark of the cut included."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[: max(0, limit - size(MARK))].decode("utf-8", "ignore") + MARK


def _render(part: Part, word: str, room: int) -> str:
    """The part in so many bytes at most; "" where not one item fits."""
    total = len(part.items)
    heading = f"## {part.title} ({total} of {total}; all in `{part.field}`)\n\n<<< {word} {part.whose}\n\n>>> {word}"
    room -= size(heading)
    kept: list[Item] = []
    whole = True
    for item in part.items if part.first else reversed(part.items):
        barred = tuple(_BAR + one.replace(word, word[:-1] + "?") for one in item)
        fit = _within(barred, room, first=part.first)
        if not fit:
            break
        kept.append(fit)
        room -= sum(size(one) + 1 for one in fit)
        whole = whole and fit == barred
        if not whole:
            break
    if not kept:
        return ""
    note = "" if whole and len(kept) == total else f" ({len(kept)} of {total}; all in `{part.field}`)"
    body = [one for item in (kept if part.first else reversed(kept)) for one in item]
    return "\n".join((f"## {part.title}{note}", "", f"<<< {word} {part.whose}", *body, f">>> {word}"))


def _within(item: Item, room: int, *, first: bool) -> Item:
    """The item, or its head with as many of its other lines as fit; () where not even two lines do."""
    if sum(size(one) + 1 for one in item) <= room:
        return item
    head, rest = item[0], item[1:]
    room -= size(head) + 1 + size(_BAR + MARK) + 1
    kept: list[str] = []
    for one in rest if first else reversed(rest):
        if size(one) + 1 > room:
            break
        room -= size(one) + 1
        kept.append(one)
    if not kept:
        return ()
    return (head, *kept, _BAR + MARK) if first else (head, _BAR + MARK, *reversed(kept))
