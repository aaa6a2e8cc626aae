"""What the knowledge graph is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.api.graph import Chunk, Detail, Graph, Scanning
from hub.domain.intent.fold import Intent
from supervisors import Call


@attrs.frozen
class GetGraph(Call[Graph]):
    """How much is known, and as of when."""


@attrs.frozen
class GetGraphNodes(Call[int]):
    """Answers how many nodes there are."""


@attrs.frozen
class GetGraphDetail(Call[Detail]):
    """The nodes that changed last, newest first, and the edges between them."""

    limit: int = 200
    node_type: str = ""
    """Only nodes of this type; "" = of all."""
    session_id: str = ""
    """Only nodes of this session; "" = of all."""


@attrs.frozen
class Retrieve(Call[list[Chunk]]):
    """The chunks of code that answer a question best."""

    question: str
    limit: int = 20


@attrs.frozen
class IndexCode(Call[Scanning]):
    """Bring the index of the code up to date, unless that is under way. Answered at once."""


@attrs.frozen
class DrawIntent(Call[Intent | None]):
    """Answers the session's `Intent` out of the graph's nodes, as of that event or a later one.

    Answers None where the graph has not read the session from its task on, or does not come so far in time.
    """

    session_id: str
    upto: int


KnowledgeInbox = DrawIntent | GetGraph | GetGraphDetail | GetGraphNodes | IndexCode | Retrieve
