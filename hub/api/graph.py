"""The knowledge graph: its size, its newest part, a look at a folder, retrieval.

Owns: what these take and answer.
Must not: know a route.

Nodes and edges have the names of their columns on the wire, chunks capitalised ones: the specification's. An answer has
ten thousands of nodes and edges, and frozen ones take twice as long to make: they are not, nor are chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import attrs

from hub.api.meta import AsNamed, EventId, Meta, Timestamp
from hub.domain.config.schema import called
from hub.domain.text.safe import NOT_IN_PATHS

_WORD = r"^[a-z_]{0,32}$(?!\n)"
_ID = r"^[a-z0-9-]{0,64}$(?!\n)"


class IndexState(StrEnum):
    """How the index of the code stands."""

    EMPTY = "empty"
    """The code was never scanned."""
    SCANNING = "scanning"
    READY = "ready"
    FAILED = "failed"
    """The last run did not come to its end; what it took is in."""


@attrs.frozen(kw_only=True)
class ScanProgress:
    """The scan of the code under way, or the last one of this daemon."""

    files: Annotated[int, "New or changed files it has taken in."]
    bytes: int
    error: Annotated[str, 'Why it did not come to its end; "" = it did, or still goes on.']


@attrs.frozen(kw_only=True)
class Graph:
    """How much is known, and as of when."""

    nodes: int
    edges: int
    files: Annotated[int, "Files of code that are indexed."]
    chunks: int
    state: IndexState
    scanned_at: Annotated[Timestamp | None, "When the last whole scan of the code began."]
    truncated: Annotated[bool, "There is more code than is indexed."]
    event_id: Annotated[EventId, "The last event that is in the graph."]
    scan: ScanProgress


@attrs.frozen(kw_only=True)
class Scanning(Graph):
    """The scan is under way."""

    ok: Literal[True] = True


@attrs.frozen(kw_only=True)
class DetailQuery:
    """Which nodes."""

    limit: Annotated[
        int, Meta(ge=1, le=2000, description="Nodes; there may be four times as many edges.")
    ] = 200
    type: Annotated[str, Meta(pattern=_WORD, description='Only nodes of this type; "" = all.')] = ""
    session_id: Annotated[
        str,
        Meta(
            pattern=_ID, description='Only nodes of this session, by its id or the beginning of it; "" = all.'
        ),
    ] = ""


@attrs.define(kw_only=True)
class CodeNode(AsNamed):
    """A module or symbol."""

    id: str
    node_type: str
    payload: Mapping[str, Any]


@attrs.define(kw_only=True)
class CodeEdge(AsNamed):
    """How two nodes belong together."""

    from_id: str
    to_id: str
    edge_type: str


@attrs.define(kw_only=True)
class GraphNode(CodeNode):
    """One node of the graph."""

    session_id: Annotated[str, '"" = it is of the code.']
    weight: float
    created_at: Timestamp
    updated_at: Timestamp


@attrs.define(kw_only=True)
class GraphEdge(CodeEdge):
    """One edge of the graph."""

    weight: float


@attrs.frozen(kw_only=True)
class Detail:
    """The nodes that changed last, newest first, and the edges between them."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


@attrs.frozen(kw_only=True)
class ProjectQuery:
    """Which folder."""

    path: Annotated[
        str,
        Meta(
            max_length=4096,
            description="A folder of the project, absolute or relative to it.",
            # Said and not checked here: a path with a control character is malformed, not merely invalid.
            schema={"pattern": f"^[^{NOT_IN_PATHS}]*$"},
        ),
    ] = "."


@attrs.frozen(kw_only=True)
class ProjectGraph:
    """What a look at a folder has found."""

    nodes: list[CodeNode]
    edges: list[CodeEdge]
    truncated: Annotated[bool, "There is more than is told."]
    limit: Annotated[str, 'Of what there is too much, as in "20,000 nodes"; "" = all is told.']


@attrs.frozen(kw_only=True)
class RetrievalQuery:
    """What is looked for."""

    q: Annotated[str, Meta(min_length=1, max_length=2000, description="Words, or names as code writes them.")]
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


@attrs.define(kw_only=True)
class Chunk:
    """Some lines of a file of code."""

    id: str = attrs.field(metadata=called("ID"))
    path: str = attrs.field(metadata=called("Path"))
    lang: str = attrs.field(metadata=called("Lang"))
    start_line: int = attrs.field(metadata=called("StartLine"))
    end_line: int = attrs.field(metadata=called("EndLine"))
    body: str = attrs.field(metadata=called("Body"))
    sha: str = attrs.field(metadata=called("SHA"))
    dim: Annotated[int, "0: there is no embedding."] = attrs.field(metadata=called("Dim"))
    mark: Annotated[str, '`generated`, `vendored` or "".'] = attrs.field(metadata=called("Mark"))
    touches: Annotated[float, "How often agents have touched the file."] = attrs.field(
        metadata=called("Touches")
    )
    stale: Annotated[bool, "The file was changed since it was indexed."] = attrs.field(
        metadata=called("Stale")
    )
