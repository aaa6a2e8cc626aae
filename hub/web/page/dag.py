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
_Place = tuple[float, float]


@attrs.frozen
class Box:
    """One node."""

    name: str
    needs: tuple[str, ...]
    beside: str
    state: str = ""
    href: str = ""
    words: str = ""
    """The state as people say it; "" = as it is."""
    unsure: bool = False
    """Whether nothing has checked what it is said to have done."""

    @property
    def told(self) -> str:
        """The words for its state; "" where it has none."""
        return self.words or self.state


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
    free: dict[int, float] = defaultdict(lambda: 2.0)
    at: dict[str, _Place] = {}
    for box in boxes:
        at[box.name] = _left(depth[box.name]), free[depth[box.name]]
        free[depth[box.name]] += _HIGH + _DOWN
    edges: list[Markup] = []
    lanes: dict[tuple[str, int], float] = {}
    for box in boxes:
        for want in filter(at.__contains__, box.needs):
            between = range(depth[want] + 1, depth[box.name])
            for layer in between:
                if (want, layer) not in lanes:
                    lanes[want, layer] = free[layer]
                    free[layer] += _DOWN
            lane = [(_left(layer), lanes[want, layer]) for layer in between]
            edges.append(_edge(at[want], lane, at[box.name]))
    width = _left(max(depth.values(), default=0)) + _WIDE + 2
    height = max(free.values(), default=2.0) - _DOWN + 2
    words = f"pipeline {name}: " + "; ".join(_words(box) for box in boxes)
    parts = Markup("").join([*edges, *(_node(box, *at[box.name]) for box in boxes)])
    # Its nodes are links, to be reached one by one: a group, and of its own size.
    return Markup(
        '<svg class="picture dag" role="group" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>'
    ).format(words, *map(number, (width, height, width, height)), parts)


def _left(layer: int) -> float:
    return layer * (_WIDE + _ACROSS) + 2


def _words(box: Box) -> str:
    waits = f" after {', '.join(box.needs)}" if box.needs else ""
    return f"{box.name}{waits}{f', {box.told}' if box.told else ''}"


def _edge(source: _Place, lane: Sequence[_Place], target: _Place) -> Markup:
    """From a box to a later one, past the boxes of the layers between them."""
    x, y = source[0] + _WIDE, source[1] + _HIGH / 2
    path = ["M", *map(number, (x, y))]
    for to_x, to_y in (*lane, (target[0], target[1] + _HIGH / 2)):
        half = (x + to_x) / 2
        path += ["C", *map(number, (half, y, half, to_y, to_x, to_y)), "H", number(to_x + _WIDE)]
        x, y = to_x + _WIDE, to_y
    return Markup('<path class="edge" d="{}"/>').format(" ".join(path[:-2]))


def _node(box: Box, x: float, y: float) -> Markup:
    beside = ", ".join(filter(None, (box.told, box.beside)))
    state = f"{box.state} unverified" if box.unsure else box.state
    drawn = Markup(
        '<g class="node {}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="6"/>'
        '<text x="{}" y="{}" class="name">{}</text><text x="{}" y="{}">{}</text></g>'
    ).format(
        state, _words(box), *map(number, (x, y, _WIDE, _HIGH, x + 8, y + 18)), clip(box.name, _LETTERS),
        *map(number, (x + 8, y + 35)), clip(beside, _LETTERS + 4),
    )  # fmt: skip
    return Markup('<a href="{}">{}</a>').format(box.href, drawn) if box.href else drawn
