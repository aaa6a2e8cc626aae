"""What the knowledge graph is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class GetGraph:
    """Answers what `GET /api/graph` serves."""


@attrs.frozen
class GetGraphNodes:
    """Answers how many nodes there are."""


@attrs.frozen
class GetGraphDetail:
    """Answers what `GET /api/graph/detail` serves."""

    limit: int = 200
    node_type: str = ""
    """Only nodes of this type; "" = of all."""
    session_id: str = ""
    """Only nodes of this session; "" = of all."""


@attrs.frozen
class Retrieve:
    """Answers what `GET /api/retrieval` serves."""

    question: str
    limit: int = 20


@attrs.frozen
class IndexCode:
    """Bring the index of the code up to date, unless that is under way. Answers as `GetGraph`, at once."""
