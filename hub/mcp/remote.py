"""The API of a daemon that is another process.

Owns: that a request blocks nobody but its thread, which is left behind when the answer is no longer waited for.
Must not: know a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import trio

from hub.client.quick import Api

_in_thread = partial(trio.to_thread.run_sync, abandon_on_cancel=True)


@attrs.frozen
class Remote:
    """Asks over HTTP.

    Args:
        find: Finds the daemon, anew for each request: it may have come or moved since the last one.
    """

    find: Callable[[], Api]

    async def get(self, path: str, query: Mapping[str, Any]) -> object:
        """The JSON of a resource."""
        return await _in_thread(lambda: self.find().get(path, query))

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """What a POST made or changed."""
        return await _in_thread(lambda: self.find().post(path, body))
