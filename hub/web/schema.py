"""The base types of what comes in and goes out, and the word-for-word limits of fields.

Owns: `Body`, `Query`, `Answer`, the shared field types and the problem document's shape.
Must not: know a route; a resource's own types live beside its handlers.

A `Body` or `Query` takes no unknown field: a misspelt option is told, never ignored. An `Answer` describes
what is served and may gain fields at any time, so it forbids nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from hub.errors import Code

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader reads exactly."""

# In Python `$` also matches before a final newline, in ECMA (and so in OpenAPI) it does not: hence `(?!\n)`.
EventId = Annotated[
    int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER, description="An event id; 0 is before the first.")
]
Sha = Annotated[
    str, msgspec.Meta(pattern=r"^[0-9a-f]{7,64}$(?!\n)", description="A commit, by 7 or more hex digits.")
]
Name = Annotated[
    str, msgspec.Meta(max_length=64, pattern=r"^[A-Za-z0-9._-]*$(?!\n)", description="A name in hub.toml.")
]
Timestamp = Annotated[str, msgspec.Meta(description="ISO 8601, UTC.")]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A request's JSON body (and the parameters of its path)."""


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A request's query parameters (and the parameters of its path)."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A response's body."""


class Nothing(Body, frozen=True, kw_only=True):
    """No parameters, or an empty body."""


class Done(Answer, frozen=True, kw_only=True):
    """What a POST answers: `ok` and what it made or changed."""

    ok: Literal[True]


class FieldProblem(Answer, frozen=True, kw_only=True):
    """One field that does not validate."""

    path: Annotated[str, msgspec.Meta(description="JSON path, from `$`.")]
    message: str


class Problem(Answer, frozen=True, kw_only=True):
    """RFC 9457 problem document; `code` is from a closed list."""

    type: str
    title: str
    status: int
    detail: str
    code: Code
    hint: str
    errors: list[FieldProblem] = msgspec.field(default_factory=list)
