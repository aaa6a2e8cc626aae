"""`POST /mcp`: where the tool server is mounted.

Owns: its place in the API's description, and what becomes of a request that is none of its own.
Must not: know the protocol; the application that is mounted does.
"""

from __future__ import annotations

from typing import Literal

import attrs

from hub.api.meta import UNSET, Open, Unset
from hub.errors import Code, HubError
from hub.web.guard import App, Receive, Scope, Send, respond
from hub.web.problem import as_hub_error, problem
from hub.web.route import Operation


@attrs.frozen(kw_only=True)
class RpcMessage(Open):
    """A message of the Model Context Protocol."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | Unset = UNSET
    params: dict[str, object] = attrs.field(factory=dict)


TOOLS = Operation(
    method="POST",
    path="/mcp",
    summary="hub's tools over the Model Context Protocol: Streamable HTTP without sessions, one message a request.",
    given=RpcMessage,
    answer=dict[str, object],
    protocol={202: "A notification was taken", 400: "A JSON-RPC error"},
)


@attrs.frozen
class Mount:
    """What stands at `TOOLS.path`."""

    app: App | None
    """None = nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if self.app is None:
            await respond(scope, send, problem(HubError(Code.NOT_FOUND)))
        elif scope["method"] != TOOLS.method:
            headers = {"Allow": TOOLS.method}
            await respond(scope, send, problem(HubError(Code.METHOD_NOT_ALLOWED), headers=headers))
        else:
            await self._answer(self.app, scope, receive, send)

    async def _answer(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except Exception as error:  # noqa: BLE001  # the edge
            await respond(scope, send, problem(as_hub_error(error)))
