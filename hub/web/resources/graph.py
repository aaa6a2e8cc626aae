"""The knowledge graph: its size, its newest part, a look at a folder, retrieval.

Owns: the routes, and what is done besides one call.
Must not: look for anything itself.
"""

from __future__ import annotations

import trio

from hub.api.graph import (
    Chunk,
    Detail,
    DetailQuery,
    Graph,
    ProjectGraph,
    ProjectQuery,
    RetrievalQuery,
    Scanning,
)
from hub.errors import Code
from hub.io.graph.project import project_graph
from hub.messages.knowledge import GetGraph, GetGraphDetail, IndexCode, Retrieve
from hub.web.codec import encode
from hub.web.context import Context, call
from hub.web.route import get, post


async def project(context: Context, query: ProjectQuery) -> bytes:
    """Nothing of it is kept."""
    return await trio.to_thread.run_sync(
        lambda: encode(project_graph(context.places.root, query.path, context.hide))
    )


async def detail(context: Context, query: DetailQuery) -> Detail:
    """Of one session, where its id is said."""
    session_id = await context.session_meant(query.session_id)
    return await context.call(GetGraphDetail(query.limit, query.type, session_id))


_UNUSABLE = frozenset(
    {Code.STATE_CORRUPT, Code.NO_SPACE, Code.READ_ONLY, Code.NO_PERMISSION, Code.DISK_FAILED}
)
ROUTES = (
    get(
        "/api/graph",
        "How much the knowledge graph holds, and as of when.",
        call(GetGraph),
        answer=Graph,
        codes=_UNUSABLE,
    ),
    get(
        "/api/graph/detail",
        "The newest nodes of the graph and the edges between them.",
        detail,
        codes=_UNUSABLE | {Code.WHICH_SESSION},
        foreign=True,
    ),
    get(
        "/api/graph/project",
        "A look at the code of a folder; nothing of it is kept.",
        project,
        answer=ProjectGraph,
        codes=frozenset({Code.NOT_FOUND}),
    ),
    post(
        "/api/graph/scan",
        "Bring the index of the code up to date, in the background.",
        call(IndexCode),
        answer=Scanning,
        status=202,
        codes=_UNUSABLE,
    ),
    get(
        "/api/retrieval",
        "The chunks of code that answer a question best.",
        call(lambda query: Retrieve(query.q, query.limit)),
        answer=list[Chunk],
        given=RetrievalQuery,
        codes=_UNUSABLE,
    ),
)
