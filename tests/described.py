"""A client that believes no answer: each has every key that the description of the API names for it, and no other.

Owns: that look at every answer a test gets from a real daemon, and at what events tell beside their words.
Must not: change one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from hub.api.convert import ProblemsError, keys_of, structure
from hub.api.events import EventRecord
from hub.client.quick import Api
from hub.domain.meta import EventMeta
from hub.web.openapi import route as description
from hub.web.route import Route
from hub.web.routes import table

_META = keys_of(EventMeta).keys()
"""Looked up once: every event of every answer and of every fold is held against them."""


def described_meta(meta: Any) -> None:
    """What an event tells beside its words.

    Raises:
        AssertionError: It has a key that nobody has described, or one with a value of another type.
    """
    strange = meta.keys() - _META
    odd = meta.keys() - structure(meta, EventMeta).keys()
    assert not strange | odd, f"{sorted(strange | odd)} of {meta} is not as hub.domain.meta says"


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
            if route.answer == list[EventRecord]:
                for record in answer:
                    described_meta(record.get("meta", {}))
    return answer


class DescribedApi(Api):
    """The client, with that look."""

    def _ask(self, method: str, target: str, body: bytes | None) -> Any:
        return described(method, target, super()._ask(method, target, body))
