"""The protocol's server over the table of tools; what both transports serve.

Owns: how the table and a result look in the protocol.
Must not: be imported before the protocol is spoken: the SDK takes as long to import as all the rest of hub.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp.types import Tool as ProtocolTool

from hub import __version__
from hub.mcp.calling import Result
from hub.mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool

Call = Callable[[str, Mapping[str, Any]], Awaitable[Result]]
Context = ServerRequestContext[Any]


def server(call: Call) -> Server[Any]:
    """A server of the tools.

    Args:
        call: Calls a tool of the table.
    """
    listed = ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "Unknown cursor: all tools are told at once.")
        return listed

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in BY_NAME:
            raise MCPError(INVALID_PARAMS, f"Unknown tool. The tools are: {', '.join(BY_NAME)}.")
        result = await call(params.name, params.arguments or {})
        return CallToolResult(
            content=[TextContent(type="text", text=result.text)],
            structured_content=result.structured,
            is_error=result.structured is None,
        )

    return Server(
        "hub",
        version=__version__,
        title="hub",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(tool: Tool) -> ProtocolTool:
    return ProtocolTool.model_validate(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
        }
    )
