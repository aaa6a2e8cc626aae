"""A client that believes no answer: each has every key that the description of the API names for it, and no other.

Owns: that look at every answer a test gets from a real daemon.
Must not: change one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from hub.api.convert import ProblemsError, structure
from hub.client.quick import Api
from hub.web.openapi import route as description
from hub.web.route import Route
from hub.web.routes import table


@cache
def _routes() -> list[tuple[str, re.Pattern[str], Route]]:
    routes = table(1)
    return [
        (
            route.method,
            re.compile(
                re.sub(r"{\w+}", "[^/]+", re.escape(route.path).replace(r"\{", "{").replace(r"\}", "}"))
            ),
            route,
        )
        for route in (*routes, description(routes))
    ]


def described(method: str, target: str, answer: Any) -> Any:
    """The answer, as it is.

    Raises:
        AssertionError: It is not what `/openapi.json` says.
    """
    path = target.partition("?")[0]
    for known, pattern, route in _routes():
        if known == method and pattern.fullmatch(path):
            try:
                structure(answer, route.answer)
            except ProblemsError as error:
                raise AssertionError(
                    f"{method} {path} is not answered as described: {error.problems}"
                ) from error
    return answer


class DescribedApi(Api):
    """The client, with that look."""

    def _ask(self, method: str, target: str, body: bytes | None) -> Any:
        return described(method, target, super()._ask(method, target, body))
