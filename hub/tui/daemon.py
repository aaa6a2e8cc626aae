"""Asking the daemon from Textual: one question at a time, off the event loop, with a typed answer.

Owns: the thread of each request.
Must not: keep an answer, or know a page.
Tests: tests/hub/tui/test_app.py

A thread of its own for each request, and no pool: an ordered stop may take minutes, and who leaves does not wait for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from hub.client.quick import Api, Query

T = TypeVar("T")


class LocalDaemon:
    """The project's daemon, wherever it is at the moment.

    Args:
        find: Where it is; asked anew each time, for the next daemon may be on another port.
    """

    def __init__(self, find: Callable[[], Api]) -> None:
        self.find = find

    async def get(self, kind: type[T], path: str, query: Query | None = None) -> T:
        """A resource.

        Raises:
            HubError: What the daemon says, or that there is none.
        """
        return await off_loop(lambda: self.find().read(kind, path, query))

    async def post(self, kind: type[T], path: str, body: object = None, *, patience: float = 30.0) -> T:
        """What an order made or changed; `body` is of the class that describes it.

        Raises:
            HubError: As above.
        """
        return await off_loop(lambda: self.find().within(patience).order(kind, path, body))


async def off_loop(work: Callable[[], T]) -> T:
    """What a blocking function returns; nobody waits for it at the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(how: Callable[[], None]) -> None:
        if not done.cancelled():
            how()

    def run() -> None:
        try:
            how = partial(done.set_result, work())
        except Exception as error:  # noqa: BLE001  # raised where it is awaited
            how = partial(done.set_exception, error)
        try:
            loop.call_soon_threadsafe(tell, how)
        except RuntimeError:
            return  # the program has ended meanwhile

    threading.Thread(target=run, daemon=True, name="hub-ask").start()
    return await done
