"""The tool server as an ASGI application: the Streamable HTTP transport, for a daemon to serve beside its API.

Owns: when the protocol's SDK is imported (at the first request), and that nothing outlives a request.
Must not: decide who may call; whoever mounts it stands before it with a guard.

It is served without sessions: no tool keeps anything from one call to the next, so there is nothing to find
again, nothing to expire, and nothing to end when the server goes down but the requests under way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import trio

if TYPE_CHECKING:
    from hub.mcp.calling import Api

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class ToolsApp:
    """Serves POST requests, each one message.

    Args:
        api: What the tools ask.
        clean: Takes out of a text what a terminal would act on.
    """

    def __init__(self, api: Api, clean: Callable[[str], str]) -> None:
        self._api = api
        self._clean = clean
        self._app: App | None = None
        self._loading = trio.Lock()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        async with self._loading:
            if self._app is None:
                # In a thread: it takes half a second, and the daemon has agents to listen to.
                self._app = await trio.to_thread.run_sync(_load, self._api, self._clean)
        await self._app(scope, receive, send)


def _load(api: Api, clean: Callable[[str], str]) -> App:
    from hub.mcp.calling import Caller  # noqa: PLC0415  # see `ToolsApp`
    from hub.mcp.server import server  # noqa: PLC0415
    from hub.mcp.single import single  # noqa: PLC0415

    return single(server(Caller(api, clean)))
