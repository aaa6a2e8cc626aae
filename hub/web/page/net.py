"""A part of the knowledge graph as SVG: a column for each type of node, a curve for each edge.

Owns: the layout and the picture.
Must not: know what a type means.
"""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from hub.api.graph import Detail, GraphNode
from hub.domain.text.safe import clip, headline
from hub.web.page.picture import number

_COLUMN, _ROW, _LETTERS, _LETTER = 230.0, 22.0, 28, 6.3
_HEAD = 24.0
_NAMES = ("title", "goal", "path", "name", "command", "text", "item", "summary", "tool")
"""Of a node's payload: what may be its name, the best first."""


def net(detail: Detail) -> Markup:
    """The picture; an edge to a node that is not in it is left out."""
    columns: dict[str, list[str]] = defaultdict(list)
    labels = {node.id: label(node) for node in detail.nodes}
    for node in detail.nodes:
        columns[node.node_type].append(node.id)
    at = {
        name: (column * _COLUMN + 8, _HEAD + row * _ROW + 8)
        for column, kind in enumerate(columns)
        for row, name in enumerate(columns[kind])
    }
    width = max(len(columns), 1) * _COLUMN
    height = _HEAD + max(map(len, columns.values()), default=1) * _ROW + 8
    edges = [
        _edge(at[edge.from_id], at[edge.to_id], _LETTER * len(clip(labels[edge.from_id], _LETTERS)) + 12)
        for edge in detail.edges
        if edge.from_id in at and edge.to_id in at
    ]
    heads = [
        Markup('<text class="name" x="{}" y="14">{}</text>').format(
            number(column * _COLUMN), clip(kind.replace("_", " "), _LETTERS)
        )
        for column, kind in enumerate(columns)
    ]
    nodes = [_node(labels[name], *place) for name, place in at.items()]
    words = f"{len(detail.nodes)} nodes in {len(columns)} types, {len(edges)} edges between them"
    return Markup(
        '<svg class="picture dag net" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">'
        "<title>{}</title>{}</svg>"
    ).format(
        words, *map(number, (width, height, width, height)), words, Markup("").join([*edges, *heads, *nodes])
    )


def label(node: GraphNode) -> str:
    """What a person knows it by."""
    found = (node.payload.get(key) for key in _NAMES)
    text = next((one for one in found if isinstance(one, str) and one.strip()), "")
    return headline(text, 300) or node.id.partition(":")[2] or node.id


def _edge(source: tuple[float, float], target: tuple[float, float], beside: float) -> Markup:
    if target[0] > source[0]:  # it begins behind the words, not in them
        source = min(source[0] + beside, target[0] - 12), source[1]
    half = (source[0] + target[0]) / 2 + (40 if source[0] == target[0] else 0)
    path = " ".join(
        ["M", *map(number, source), "C", *map(number, (half, source[1], half, target[1], *target))]
    )
    return Markup('<path class="edge thin" d="{}"/>').format(path)


def _node(name: str, x: float, y: float) -> Markup:
    return Markup(
        '<g><title>{}</title><circle class="dot" cx="{}" cy="{}" r="4"/><text x="{}" y="{}">{}</text></g>'
    ).format(clip(name, 300), number(x), number(y), number(x + 8), number(y + 4), clip(name, _LETTERS))
