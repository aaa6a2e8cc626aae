"""Asking the daemon from Textual: one question at a time, off the event loop, with a typed answer.

Owns: the thread of each request, and the way from JSON to the classes of `hub.api`.
Must not: keep an answer, or know a page.
Tests: tests/hub/tui/test_app.py

A thread of its own for each request, and no pool: an ordered stop may take minutes, and who leaves does not wait for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hub.client.quick import Api

T = TypeVar("T")


class LocalDaemon:
    """The project's daemon, wherever it is at the moment.

    Args:
        find: Where it is; asked anew each time, for the next daemon may be on another port.
    """

    def __init__(self, find: Callable[[], Api]) -> None:
        self.find = find

    async def get(self, kind: type[T], path: str, query: Mapping[str, str | int] | None = None) -> T:
        """A resource.

        Raises:
            HubError: What the daemon says, or that there is none.
        """
        return await off_loop(lambda: _typed(self.find().get(path, query), kind))

    async def post(self, path: str, body: Mapping[str, Any] | None = None, *, patience: float = 30.0) -> Any:
        """What an order made or changed, as plain JSON.

        Raises:
            HubError: As above.
        """
        return await off_loop(lambda: self.find().within(patience).post(path, body))


def _typed(value: Any, kind: type[T]) -> T:
    from hub.api.convert import structure  # noqa: PLC0415  # nothing that talks is imported before the first paint

    return structure(value, kind, closed=False)


async def off_loop(work: Callable[[], T]) -> T:
    """What a blocking function returns; nobody waits for it at the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # there is one where there is no error

    def run() -> None:
        try:
            result, error = work(), None
        except Exception as caught:  # noqa: BLE001  # raised where it is awaited
            result, error = None, caught
        try:
            loop.call_soon_threadsafe(tell, result, error)
        except RuntimeError:
            return  # the program has ended meanwhile

    threading.Thread(target=run, daemon=True, name="hub-ask").start()
    return await done
