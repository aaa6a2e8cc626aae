"""What the knowledge graph is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.intent.fold import Intent
from hub.domain.jsonvalue import JsonArray, JsonObject
from supervisors import Call


@attrs.frozen
class GetGraph(Call[JsonObject]):
    """Answers what `GET /api/graph` serves."""


@attrs.frozen
class GetGraphNodes(Call[int]):
    """Answers how many nodes there are."""


@attrs.frozen
class GetGraphDetail(Call[JsonObject]):
    """Answers what `GET /api/graph/detail` serves."""

    limit: int = 200
    node_type: str = ""
    """Only nodes of this type; "" = of all."""
    session_id: str = ""
    """Only nodes of this session; "" = of all."""


@attrs.frozen
class Retrieve(Call[JsonArray]):
    """Answers what `GET /api/retrieval` serves."""

    question: str
    limit: int = 20


@attrs.frozen
class IndexCode(Call[JsonObject]):
    """Bring the index of the code up to date, unless that is under way. Answers as `GetGraph`, at once."""


@attrs.frozen
class DrawIntent(Call[Intent | None]):
    """Answers the session's `Intent` out of the graph's nodes, as of that event or a later one.

    Answers None where the graph has not read the session from its task on, or does not come so far in time.
    """

    session_id: str
    upto: int
