"""A graph of tasks as SVG: layers from left to right, an edge for what waits for what.

Owns: the layout and the picture.
Must not: know what a node is, or what its state means; the state is a class of the style sheet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import attrs
from markupsafe import Markup

from hub.domain.text.safe import clip
from hub.web.page.picture import number

_WIDE, _HIGH, _ACROSS, _DOWN = 168.0, 44.0, 48.0, 16.0
_LETTERS = 20


@attrs.frozen
class Box:
    """One node."""

    name: str
    needs: tuple[str, ...]
    beside: str
    state: str = ""
    href: str = ""


def layers(boxes: Sequence[Box]) -> dict[str, int]:
    """Each node's layer: one more than the last of those it needs. A circle is cut, not followed."""
    known = {box.name: box for box in boxes}
    found: dict[str, int] = {}
    for _ in boxes:
        for box in boxes:
            needs = [found.get(want, 0) + 1 for want in box.needs if want in known and want != box.name]
            found[box.name] = min(max(needs, default=0), len(boxes) - 1)
    return found


def dag(name: str, boxes: Sequence[Box]) -> Markup:
    """The picture."""
    depth = layers(boxes)
    rows: dict[int, int] = defaultdict(int)
    at: dict[str, tuple[float, float]] = {}
    for box in boxes:
        layer = depth[box.name]
        at[box.name] = (layer * (_WIDE + _ACROSS) + 2, rows[layer] * (_HIGH + _DOWN) + 2)
        rows[layer] += 1
    width = (max(depth.values(), default=0) + 1) * (_WIDE + _ACROSS) - _ACROSS + 4
    height = max(rows.values(), default=1) * (_HIGH + _DOWN) - _DOWN + 4
    edges = [_edge(at[want], at[box.name]) for box in boxes for want in box.needs if want in at]
    words = f"pipeline {name}: " + "; ".join(_words(box) for box in boxes)
    parts = Markup("").join([*edges, *(_node(box, *at[box.name]) for box in boxes)])
    # Its nodes are links, to be reached one by one: a group, and of its own size.
    return Markup(
        '<svg class="picture dag" role="group" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>'
    ).format(words, *map(number, (width, height, width, height)), parts)


def _words(box: Box) -> str:
    waits = f" after {', '.join(box.needs)}" if box.needs else ""
    return f"{box.name}{waits}{f', {box.state}' if box.state else ''}"


def _edge(source: tuple[float, float], target: tuple[float, float]) -> Markup:
    x1, y1 = source[0] + _WIDE, source[1] + _HIGH / 2
    x2, y2 = target[0], target[1] + _HIGH / 2
    half = (x1 + x2) / 2
    path = " ".join(["M", *map(number, (x1, y1)), "C", *map(number, (half, y1, half, y2, x2, y2))])
    return Markup('<path class="edge" d="{}"/>').format(path)


def _node(box: Box, x: float, y: float) -> Markup:
    beside = ", ".join(filter(None, (box.beside, box.state)))
    drawn = Markup(
        '<g class="node {}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="6"/>'
        '<text x="{}" y="{}" class="name">{}</text><text x="{}" y="{}">{}</text></g>'
    ).format(
        box.state, _words(box), *map(number, (x, y, _WIDE, _HIGH, x + 8, y + 18)), clip(box.name, _LETTERS),
        *map(number, (x + 8, y + 35)), clip(beside, _LETTERS + 6),
    )  # fmt: skip
    return Markup('<a href="{}">{}</a>').format(box.href, drawn) if box.href else drawn
