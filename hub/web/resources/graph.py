"""The knowledge graph: its size, its newest part, a look at a folder, retrieval.

Owns: the shapes of those resources.
Must not: look for anything itself.

Nodes and edges are served under the names of their columns, chunks under capitalised ones: the specification's.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from hub.domain.text import NOT_IN_PATHS
from hub.errors import Code
from hub.io.graph.project import project_graph
from hub.messages import GetGraph, GetGraphDetail, IndexCode, Retrieve
from hub.web.codec import encode_plain
from hub.web.context import Context, call
from hub.web.route import get, post
from hub.web.schema import Answer, EventId, Query, Timestamp

_WORD = r"^[a-z_]{0,32}$(?!\n)"
_ID = r"^[a-z0-9-]{0,64}$(?!\n)"


class ScanProgress(Answer, frozen=True, kw_only=True):
    """The scan of the code under way, or the last one of this daemon."""

    files: Annotated[int, Meta(description="New or changed files it has taken in.")]
    bytes: int
    error: Annotated[str, Meta(description='Why it did not come to its end; "" = it did, or still goes on.')]


class Graph(Answer, frozen=True, kw_only=True):
    """How much is known, and as of when."""

    nodes: int
    edges: int
    files: Annotated[int, Meta(description="Files of code that are indexed.")]
    chunks: int
    state: Literal["empty", "scanning", "ready", "failed"]
    scanned_at: Annotated[Timestamp | None, Meta(description="When the last whole scan of the code began.")]
    truncated: Annotated[bool, Meta(description="There is more code than is indexed.")]
    event_id: Annotated[EventId, Meta(description="The last event that is in the graph.")]
    scan: ScanProgress


class Scanning(Graph, frozen=True, kw_only=True):
    """The scan is under way."""

    ok: Literal[True]


class DetailQuery(Query, frozen=True, kw_only=True):
    """Which nodes."""

    limit: Annotated[
        int, Meta(ge=1, le=2000, description="Nodes; there may be four times as many edges.")
    ] = 200
    type: Annotated[str, Meta(pattern=_WORD, description='Only nodes of this type; "" = all.')] = ""
    session_id: Annotated[str, Meta(pattern=_ID, description='Only nodes of this session; "" = all.')] = ""


class CodeNode(Answer, frozen=True, kw_only=True, rename=None):
    """A module or symbol."""

    id: str
    node_type: str
    payload: dict[str, Any]


class CodeEdge(Answer, frozen=True, kw_only=True, rename=None):
    """How two nodes belong together."""

    from_id: str
    to_id: str
    edge_type: str


class GraphNode(CodeNode, frozen=True, kw_only=True, rename=None):
    """One node of the graph."""

    session_id: Annotated[str, Meta(description='"" = it is of the code.')]
    weight: float
    created_at: Timestamp
    updated_at: Timestamp


class GraphEdge(CodeEdge, frozen=True, kw_only=True, rename=None):
    """One edge of the graph."""

    weight: float


class Detail(Answer, frozen=True, kw_only=True):
    """The nodes that changed last, newest first, and the edges between them."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


class ProjectQuery(Query, frozen=True, kw_only=True):
    """Which folder."""

    path: Annotated[
        str,
        Meta(
            max_length=4096,
            description="A folder of the project, absolute or relative to it.",
            # Said and not checked here: a path with a control character is malformed, not merely invalid.
            extra_json_schema={"pattern": f"^[^{NOT_IN_PATHS}]*$"},
        ),
    ] = "."


class ProjectGraph(Answer, frozen=True, kw_only=True):
    """What a look at a folder has found."""

    nodes: list[CodeNode]
    edges: list[CodeEdge]
    truncated: Annotated[bool, Meta(description="There is more than is told.")]
    limit: Annotated[
        str, Meta(description='Of what there is too much, as in "20,000 nodes"; "" = all is told.')
    ]


class RetrievalQuery(Query, frozen=True, kw_only=True):
    """What is looked for."""

    q: Annotated[str, Meta(min_length=1, max_length=2000, description="Words, or names as code writes them.")]
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class Chunk(Answer, frozen=True, kw_only=True, rename=None):
    """Some lines of a file of code."""

    id: str = msgspec.field(name="ID")
    path: str = msgspec.field(name="Path")
    lang: str = msgspec.field(name="Lang")
    start_line: int = msgspec.field(name="StartLine")
    end_line: int = msgspec.field(name="EndLine")
    body: str = msgspec.field(name="Body")
    sha: str = msgspec.field(name="SHA")
    dim: Annotated[int, Meta(description="0: there is no embedding.")] = msgspec.field(name="Dim")
    mark: Annotated[str, Meta(description='`generated`, `vendored` or "".')] = msgspec.field(name="Mark")
    touches: Annotated[float, Meta(description="How often agents have touched the file.")] = msgspec.field(
        name="Touches"
    )
    stale: Annotated[bool, Meta(description="The file was changed since it was indexed.")] = msgspec.field(
        name="Stale"
    )


async def project(context: Context, query: ProjectQuery) -> bytes:
    """Nothing of it is kept."""
    return await trio.to_thread.run_sync(
        lambda: encode_plain(project_graph(context.places.root, query.path, context.hide))
    )


async def retrieval(context: Context, query: RetrievalQuery) -> bytes:
    """What they were hidden in has left nothing that is not plain."""
    return encode_plain(await context.call(Retrieve(query.q, query.limit)))


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
        call(lambda query: GetGraphDetail(query.limit, query.type, query.session_id)),
        answer=Detail,
        query=DetailQuery,
        codes=_UNUSABLE,
        foreign=True,
    ),
    get(
        "/api/graph/project",
        "A look at the code of a folder; nothing of it is kept.",
        project,
        answer=ProjectGraph,
        query=ProjectQuery,
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
        retrieval,
        answer=list[Chunk],
        query=RetrievalQuery,
        codes=_UNUSABLE,
    ),
)
