"""Several questions put at once.

Owns: that a part which is just restarting keeps no other from being heard.
Must not: know what is asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping

import trio

from hub.domain.jsonvalue import JsonObject
from hub.errors import HubError
from supervisors import ActorDied


async def asked(sources: Mapping[str, Callable[[], Awaitable[object]]]) -> JsonObject:
    """The answer of each by its name; None of one that could not answer."""
    found: JsonObject = dict.fromkeys(sources)

    async def ask(name: str) -> None:
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
            found[name] = await sources[name]()

    async with trio.open_nursery() as nursery:
        for name in sources:
            nursery.start_soon(ask, name)
    return found
