"""What the daemon shows of itself: breakers, redactions, contract, audit head, supervision tree.

Owns: the shapes of those resources.
Must not: change anything.
"""

from __future__ import annotations

from typing import Any, Literal

from hub.domain.jsonvalue import JsonArray, JsonObject
from hub.errors import Code
from hub.web.backend import Backend
from hub.web.route import NoQuery, get
from hub.web.schema import Answer, Timestamp


class Breaker(Answer, frozen=True, kw_only=True):
    """One circuit breaker."""

    name: str
    state: Literal["closed", "open", "half-open"]
    failures: int
    opened_at: Timestamp | None = None


class Redactions(Answer, frozen=True, kw_only=True):
    """How many secrets of each kind were scrubbed this session: `<kind>:<count>` pairs."""

    summary: str


class AuditHead(Answer, frozen=True, kw_only=True):
    """The newest record of the audit chain."""

    seq: int
    hash: str
    bytes: int


async def circuit(backend: Backend, _: NoQuery) -> JsonArray:
    """The circuit breakers."""
    return await backend.circuit()


async def redactions(backend: Backend, _: NoQuery) -> JsonObject:
    """How many secrets were scrubbed."""
    return await backend.redactions()


async def contract(backend: Backend, _: NoQuery) -> JsonObject:
    """The current continuation contract, verified."""
    return await backend.contract()


async def audit_head(backend: Backend, _: NoQuery) -> JsonObject:
    """The head of the audit chain."""
    return await backend.audit_head()


async def tree(backend: Backend, _: NoQuery) -> JsonObject:
    """The supervision tree."""
    return await backend.tree()


ROUTES = (
    get("/api/circuit", circuit, answer=list[Breaker]),
    get("/api/redactions", redactions, answer=Redactions),
    get(
        "/api/contract",
        contract,
        answer=dict[str, Any],
        codes=frozenset({Code.NOT_FOUND, Code.CONTRACT_INVALID}),
        foreign=True,
    ),
    get("/api/audit/head", audit_head, answer=AuditHead),
    get("/api/system/tree", tree, answer=dict[str, Any]),
)
