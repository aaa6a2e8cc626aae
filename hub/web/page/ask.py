"""How a page asks: the routes of the API, their answers typed again.

Owns: the way from a route's answer to the class that describes it, and what is shown of a part that has none.
Must not: reach an actor, a file or a program; what a page shows is what the API answers.
Tests: tests/hub/web/page/test_mount.py
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import trio

from hub.api.convert import structure
from hub.errors import Code, HubError
from hub.web.inprocess import InProcess


@attrs.frozen
class Failed:
    """A part of a page that could not be asked for; the others are shown."""

    detail: str
    hint: str

    def __bool__(self) -> bool:
        return False


@attrs.frozen
class Ask:
    """The API, asked by a page."""

    api: InProcess
    briefly: bool = False
    """Whether what takes long may be left out: the page is there already, and shows what it had."""

    async def __call__(self, kind: Any, path: str, **query: Any) -> Any:
        """The answer of a route, as `kind`.

        Raises:
            HubError: The one whose problem document the route would serve.
        """
        answer = await self.api.get(path, query)
        return await trio.to_thread.run_sync(structure, answer, kind)

    async def part(self, kind: object, path: str, **query: object) -> Any:
        """The same for a part of a page without which the rest makes sense: its `Failed` where there is none."""
        try:
            return await self(kind, path, **query)
        except HubError as error:
            return Failed(error.detail, error.hint)

    async def maybe(self, kind: object, path: str, **query: object) -> object:
        """The same; None where there is no such thing yet."""
        try:
            return await self(kind, path, **query)
        except HubError as error:
            return None if error.code in _NONE_YET else Failed(error.detail, error.hint)


_NONE_YET = frozenset({Code.NOT_FOUND, Code.NO_ACTIVE_SESSION, Code.BRANCH_MISSING})


async def together(**questions: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    """The answers to several questions asked at once, by name. The first error of any is raised."""
    answers: dict[str, object] = {}
    errors: list[HubError] = []

    async def one(name: str, question: Callable[[], Awaitable[object]]) -> None:
        try:
            answers[name] = await question()
        except HubError as error:
            errors.append(error)

    async with trio.open_nursery() as nursery:
        for name, question in questions.items():
            nursery.start_soon(one, name, question)
    if errors:
        raise errors[0]
    return answers
