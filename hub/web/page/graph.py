"""The knowledge graph and retrieval: what is known of the code and of agents' work, and what a question brings up.

Owns: which part of the graph is drawn, and its picture: a column for each type of node, a curve for each edge.
Must not: look for anything itself, or know what a type means.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated

import attrs
from markupsafe import Markup

from hub.api.graph import Chunk, Detail, Graph, GraphNode
from hub.api.meta import Meta
from hub.domain.event import Tag
from hub.domain.text.safe import clip, headline
from hub.web.page.ask import Ask, together
from hub.web.page.picture import number
from hub.web.page.view import View

_COLUMN, _ROW, _LETTERS, _LETTER = 230.0, 22.0, 28, 6.3
_HEAD = 24.0
_NAMES = ("title", "goal", "name", "path", "command", "text", "item", "summary", "tool")
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


_NODES = 60
_CHUNKS = 20


@attrs.frozen(kw_only=True)
class GraphPageQuery:
    """What is looked for, and nodes of which type are drawn."""

    q: Annotated[str, Meta(max_length=2000)] = ""
    type: Annotated[str, Meta(pattern=r"^[a-z_]{0,32}$(?!\n)")] = ""


async def show(ask: Ask, given: GraphPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        size = each(lambda: ask(Graph, "/api/graph"))
        nodes = each(lambda: ask.part(Detail, "/api/graph/detail", limit=_NODES, type=given.type))
    question = given.q.strip()
    chunks = await ask.part(list[Chunk], "/api/retrieval", q=question, limit=_CHUNKS) if question else None
    detail = nodes.answer
    return {
        "size": size.answer,
        "detail": detail,
        "drawn": net(detail) if detail else None,
        "types": sorted({node.node_type for node in detail.nodes}) if detail else [],
        "type": given.type,
        "q": given.q,
        "chunks": chunks,
    }


VIEW = View(title="Graph", show=show, given=GraphPageQuery, tags=frozenset({Tag.SYSTEM, Tag.HANDOFF}))
