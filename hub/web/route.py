"""What a route is.

Owns: `Route`, the value every resource's `ROUTES` is made of, and the constructors `get` and `post`.
Must not: know any one route, or how it is served.

Guard, decode, call, encode are the same for all. What is written for a route is its types and the message it sends
(`hub.web.context.call`); a handler of its own only where it does more than that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, get_type_hints

import attrs

from hub.api.base import Nothing
from hub.errors import Code
from hub.web.context import Handler


@attrs.frozen
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
    given: type[object] = attrs.field(default=Nothing, kw_only=True)
    answer: Any = attrs.field(kw_only=True)
    status: int = attrs.field(default=200, kw_only=True)
    codes: frozenset[Code] = attrs.field(default=frozenset(), kw_only=True)
    media: str = attrs.field(default="application/json", kw_only=True)
    protocol: Mapping[int, str] = attrs.field(factory=dict, kw_only=True)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the path's parameters."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def _type_of(place: int) -> Any:
    """The default of a field of a route: what its handler has in this place, the last being its answer."""

    def found(route: Route) -> Any:
        kind = [*get_type_hints(route.handle).values()][place]
        return Nothing if kind is object else kind

    return attrs.Factory(found, takes_self=True)


@attrs.frozen
class Route(Operation):
    """An operation and what serves it.

    What its handler is given and answers, by its own annotations, is what the operation takes and answers, unless the
    table says it.

    Attributes:
        handle: Given the decoded `given`; what it answers is encoded as JSON.
        foreign: Its texts come from files, from git or from agents. They are redacted as it is encoded, in a worker
            thread: it may be large, and nobody else waits for it.
    """

    handle: Handler
    given: type[object] = attrs.field(default=_type_of(-2), kw_only=True)
    answer: Any = attrs.field(default=_type_of(-1), kw_only=True)
    foreign: bool = attrs.field(default=False, kw_only=True)

    @property
    def name(self) -> str:
        """No other route's."""
        return f"{self.method} {self.path}"


get = partial(Route, "GET")
"""A route that reads."""
post = partial(Route, "POST")
"""A route that changes something."""
