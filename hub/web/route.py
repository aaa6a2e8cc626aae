"""What a route is.

Owns: `Route`, the value every resource's `ROUTES` is made of, and the constructors `get` and `post`.
Must not: know any one route, or how it is served.

A handler is decode -> one actor call -> encode: the decoding is declared here by a type, the encoding is the
same for all, so what is left to write is the call.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import attrs

from hub.errors import Code
from hub.web.backend import Backend
from hub.web.schema import Body, Nothing, Query

B = TypeVar("B", bound="Body | list[Any]")
Q = TypeVar("Q", bound=Query)


class NoQuery(Query, frozen=True, kw_only=True):
    """No query parameters."""


@attrs.frozen(kw_only=True)
class Operation:
    """One method on one path, as OpenAPI describes it.

    Attributes:
        method: GET or POST. A GET never changes state.
        path: With parameters in braces; each is a field of `given`.
        summary: One line.
        given: The `Query` of a GET, the `Body` of a POST.
        answer: The type that describes the response.
        status: Of the response when all went well.
        codes: Errors of this operation besides those any operation may give.
        media: The response's media type.
        protocol: What another protocol that is spoken here answers besides, by status.
    """

    method: str
    path: str
    summary: str
    given: type[Any]
    answer: Any
    status: int = 200
    codes: frozenset[Code] = frozenset()
    media: str = "application/json"
    protocol: Mapping[int, str] = attrs.field(factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the path's parameters."""
        return tuple(re.findall(r"{(\w+)}", self.path))


@attrs.frozen(kw_only=True)
class Route(Operation):
    """An operation and what serves it.

    Attributes:
        handle: Called with the backend and the decoded `given`; what it answers is encoded as JSON.
        foreign: Its texts come from files, from git or from agents. They are redacted as it is encoded, in a worker
            thread: it may be large, and nobody else waits for it.
    """

    handle: Callable[[Backend, Any], Awaitable[Any]]
    foreign: bool = False


def _summary(handle: Callable[..., object]) -> str:
    return (handle.__doc__ or "").strip().partition("\n")[0]


def get(
    path: str,
    handle: Callable[[Backend, Q], Awaitable[Any]],
    *,
    answer: Any,
    query: type[Q | NoQuery] = NoQuery,
    codes: frozenset[Code] = frozenset(),
    foreign: bool = False,
) -> Route:
    """A route that reads; its summary is the first line of the handler's docstring."""
    return Route(
        method="GET",
        path=path,
        summary=_summary(handle),
        given=query,
        answer=answer,
        codes=codes,
        handle=handle,
        foreign=foreign,
    )


def post(
    path: str,
    handle: Callable[[Backend, B], Awaitable[Any]],
    *,
    answer: Any,
    body: Any = Nothing,
    status: int = 200,
    codes: frozenset[Code] = frozenset(),
    foreign: bool = False,
) -> Route:
    """A route that changes something; its summary is the first line of the handler's docstring."""
    return Route(
        method="POST",
        path=path,
        summary=_summary(handle),
        given=body,
        answer=answer,
        status=status,
        codes=codes,
        handle=handle,
        foreign=foreign,
    )
