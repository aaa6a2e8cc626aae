"""What a route is.

Owns: `Route`, the value every resource's `ROUTES` is made of, and the constructors `get` and `post`.
Must not: know any one route, or how it is served.

Guard, decode, call, encode are the same for all. What is written for a route is its types and the message it sends
(`hub.web.context.call`); a handler of its own only where it does more than that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from hub.api.base import Nothing
from hub.errors import Code
from hub.web.context import Handler


@attrs.frozen(kw_only=True)
class Operation:
    """One method on one path, as OpenAPI describes it.

    Attributes:
        method: GET or POST. A GET never changes state.
        path: With parameters in braces; each is a field of `given`.
        summary: One line.
        given: The parameters of a GET, the body of a POST.
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
        handle: Given the decoded `given`; what it answers is encoded as JSON.
        foreign: Its texts come from files, from git or from agents. They are redacted as it is encoded, in a worker
            thread: it may be large, and nobody else waits for it.
    """

    handle: Handler
    foreign: bool = False

    @property
    def name(self) -> str:
        """No other route's."""
        return f"{self.method} {self.path}"


def get(
    path: str,
    summary: str,
    handle: Handler,
    *,
    answer: object,
    query: type = Nothing,
    codes: frozenset[Code] = frozenset(),
    foreign: bool = False,
    media: str = "application/json",
) -> Route:
    """A route that reads."""
    return Route(
        method="GET",
        path=path,
        summary=summary,
        given=query,
        answer=answer,
        codes=codes,
        handle=handle,
        foreign=foreign,
        media=media,
    )


def post(
    path: str,
    summary: str,
    handle: Handler,
    *,
    answer: object,
    body: Any = Nothing,
    status: int = 200,
    codes: frozenset[Code] = frozenset(),
    foreign: bool = False,
) -> Route:
    """A route that changes something."""
    return Route(
        method="POST",
        path=path,
        summary=summary,
        given=body,
        answer=answer,
        status=status,
        codes=codes,
        handle=handle,
        foreign=foreign,
    )
