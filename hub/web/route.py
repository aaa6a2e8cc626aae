"""What a route is.

Owns: `Route`, the value every resource's `ROUTES` is made of, and the constructors `get` and `post`.
Must not: know any one route, or how it is served.

A handler is decode -> one actor call -> encode: the decoding is declared here by a type, the encoding is the same for
all, so what is left to write is the call.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import attrs

from hub.errors import Code
from hub.web.backend import Backend
from hub.web.schema import Body, Nothing, Query

B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)


class NoQuery(Query, frozen=True, kw_only=True):
    """No query parameters."""


@attrs.frozen
class Route:
    """One method on one path.

    Attributes:
        method: GET or POST. A GET never changes state.
        path: With parameters in braces, as in OpenAPI; each is a field of `given`.
        handle: Called with the backend and the decoded `given`; what it answers is encoded as JSON.
        given: The `Query` of a GET, the `Body` of a POST.
        answer: The type that describes the response, for OpenAPI.
        status: Of the response when all went well.
        codes: Errors of this route besides those any route may give.
        media: The response's media type.
    """

    method: str
    path: str
    handle: Callable[[Backend, Any], Awaitable[Any]]
    given: type[Any]
    answer: Any
    status: int = 200
    codes: frozenset[Code] = frozenset()
    media: str = "application/json"

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handle.__doc__ or "").strip().partition("\n")[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the path's parameters."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def get(
    path: str,
    handle: Callable[[Backend, Q], Awaitable[Any]],
    *,
    answer: Any,
    query: type[Q] | type[NoQuery] = NoQuery,
    codes: frozenset[Code] = frozenset(),
) -> Route:
    """A route that reads."""
    return Route("GET", path, handle, query, answer, codes=codes)


def post(
    path: str,
    handle: Callable[[Backend, B], Awaitable[Any]],
    *,
    answer: Any,
    body: type[B] | type[Nothing] = Nothing,
    status: int = 200,
    codes: frozenset[Code] = frozenset(),
) -> Route:
    """A route that changes something."""
    return Route("POST", path, handle, body, answer, status=status, codes=codes)
