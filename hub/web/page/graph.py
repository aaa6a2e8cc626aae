"""The knowledge graph and retrieval: what is known of the code and of agents' work, and what a question brings up.

Owns: which part of the graph is drawn.
Must not: look for anything itself.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import attrs

from hub.api.graph import Chunk, Detail, Graph
from hub.api.meta import Meta
from hub.domain.event import Tag
from hub.web.page.ask import Ask, together
from hub.web.page.net import net
from hub.web.page.view import View

_NODES = 60
_CHUNKS = 20


@attrs.frozen(kw_only=True)
class GraphPageQuery:
    """What is looked for, and nodes of which type are drawn."""

    q: Annotated[str, Meta(max_length=2000)] = ""
    type: Annotated[str, Meta(pattern=r"^[a-z_]{0,32}$(?!\n)")] = ""


async def show(ask: Ask, given: GraphPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    found = await together(
        size=partial(ask, Graph, "/api/graph"),
        detail=partial(ask.part, Detail, "/api/graph/detail", limit=_NODES, type=given.type),
    )
    question = given.q.strip()
    chunks = await ask.part(list[Chunk], "/api/retrieval", q=question, limit=_CHUNKS) if question else None
    detail = found["detail"]
    return {
        **found,
        "drawn": net(detail) if detail else None,
        "types": sorted({node.node_type for node in detail.nodes}) if detail else [],
        "type": given.type,
        "q": given.q,
        "chunks": chunks,
    }


VIEW = View(title="Graph", show=show, given=GraphPageQuery, tags=frozenset({Tag.SYSTEM, Tag.HANDOFF}))
