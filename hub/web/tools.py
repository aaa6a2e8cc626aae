"""`POST /mcp`: where the tool server is mounted.

Owns: its place in the API's description.
Must not: know the protocol; the application that is mounted does.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs

from hub.api.meta import UNSET, Open, Unset
from hub.web.route import Operation


@attrs.frozen(kw_only=True)
class RpcMessage(Open):
    """A message of the Model Context Protocol."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | Unset = UNSET
    params: dict[str, Any] = attrs.field(factory=dict)


TOOLS = Operation(
    method="POST",
    path="/mcp",
    summary="hub's tools over the Model Context Protocol: Streamable HTTP without sessions, one message a request.",
    given=RpcMessage,
    answer=dict[str, Any],
    protocol={202: "A notification was taken", 400: "A JSON-RPC error"},
)
