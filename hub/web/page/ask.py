"""How a page asks: the routes of the API, their answers typed again.

Owns: the way from a route's answer to the class that describes it, and what is shown of a part that has none.
Must not: reach an actor, a file or a program; what a page shows is what the API answers.
Tests: tests/hub/web/page/test_mount.py
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, Literal, TypeVar

import attrs
import trio

from hub.api.convert import structure
from hub.errors import Code, HubError
from hub.web.inprocess import InProcess

T = TypeVar("T")


@attrs.frozen
class Failed:
    """A part of a page that could not be asked for; the others are shown."""

    detail: str
    hint: str

    def __bool__(self) -> Literal[False]:
        return False


@attrs.frozen
class Ask:
    """The API, asked by a page."""

    api: InProcess
    briefly: bool = False
    """Whether what takes long may be left out: the page is there already, and shows what it had."""

    async def __call__(self, kind: type[T], path: str, **query: object) -> T:
        """The answer of a route, as `kind`.

        Raises:
            HubError: The one whose problem document the route would serve.
        """
        answer = await self.api.get(path, query)
        return await trio.to_thread.run_sync(structure, answer, kind)

    async def part(self, kind: type[T], path: str, **query: object) -> T | Failed:
        """The same for a part of a page without which the rest makes sense: its `Failed` where there is none."""
        try:
            return await self(kind, path, **query)
        except HubError as error:
            return Failed(error.detail, error.hint)

    async def maybe(self, kind: type[T], path: str, **query: object) -> T | Failed | None:
        """The same; None where there is no such thing yet."""
        try:
            return await self(kind, path, **query)
        except HubError as error:
            return None if error.code in _NONE_YET else Failed(error.detail, error.hint)


_NONE_YET = frozenset({Code.NOT_FOUND, Code.NO_ACTIVE_SESSION, Code.BRANCH_MISSING})


@attrs.define
class Awaited(Generic[T]):
    """The answer to one of several questions; it is there once all of them have one."""

    answer: T = attrs.field(init=False)
    """Not to be looked at before."""

    async def take(self, question: Callable[[], Awaitable[T]]) -> None:
        """Ask it."""
        self.answer = await question()


@attrs.frozen
class Together:
    """Several questions that are asked at once."""

    _nursery: trio.Nursery
    _errors: list[HubError]

    def __call__(self, question: Callable[[], Awaitable[T]]) -> Awaited[T]:
        """One more of them."""
        awaited: Awaited[T] = Awaited()
        self._nursery.start_soon(self._one, awaited, question)
        return awaited

    async def _one(self, awaited: Awaited[T], question: Callable[[], Awaitable[T]]) -> None:
        try:
            await awaited.take(question)
        except HubError as error:
            self._errors.append(error)


@asynccontextmanager
async def together() -> AsyncIterator[Together]:
    """Asks what is asked within it; behind it all answers are there.

    Raises:
        HubError: The first of any; the others are asked nonetheless.
    """
    errors: list[HubError] = []
    async with trio.open_nursery() as nursery:
        yield Together(nursery, errors)
    if errors:
        raise errors[0]
