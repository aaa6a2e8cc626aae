"""What many routes take or answer.

Owns: nothing given, `ok`, and the problem document.
Must not: know a resource.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.meta import Open
from hub.errors import Code


@attrs.frozen(kw_only=True)
class Nothing:
    """No parameters, or an empty body."""


@attrs.frozen(kw_only=True)
class Done:
    """What a POST answers: `ok` and what it made or changed."""

    ok: Literal[True] = True


@attrs.frozen(kw_only=True)
class FieldProblem:
    """One field that does not validate."""

    path: Annotated[str, "JSON path, from `$`."]
    message: str


@attrs.frozen(kw_only=True)
class Problem(Open):
    """RFC 9457 problem document; `code` is from a closed list."""

    type: str
    title: str
    status: int
    detail: str
    code: Code
    hint: str
    errors: list[FieldProblem] = attrs.field(factory=list)
