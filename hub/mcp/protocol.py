"""The Model Context Protocol over the table of tools: what every transport answers.

Owns: both eras of the protocol, and how the table and a result look in each.
Must not: know a transport, or keep anything from one message to the next.

Until 2025-11-25 a connection begins with a handshake. Since 2026-07-28 each request says in `params._meta` which revision
it speaks, and each answer who gave it. A request is answered in the era that it speaks itself, whatever came before it.
Tests: tests/hub/mcp/test_stdio.py, tests/hub/mcp/test_http.py, tests/hub/mcp/test_real_checkers.py
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import attrs

from hub import __version__
from hub.domain.jsonvalue import JsonObject
from hub.mcp.calling import Result
from hub.mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool
from hub.wire.frames import INVALID_PARAMS, METHOD_NOT_FOUND, RefusedError, refused

UNSUPPORTED_VERSION = -32022
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with a handshake, oldest first."""
MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_SERVER = {"name": "hub", "title": "hub", "version": __version__}
_CAPABILITIES = {"tools": {"listChanged": False}}
_UNCACHED = {"ttlMs": 0, "cacheScope": "private"}

Call = Callable[[str, Mapping[str, object]], Awaitable[Result]]


def is_modern(params: JsonObject) -> bool:
    """Whether a request speaks for itself."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def insist_on_envelope(params: JsonObject) -> None:
    """Refuse a modern request that does not say all that it must.

    Raises:
        RefusedError: `INVALID_PARAMS`, or `UNSUPPORTED_VERSION` with those that are supported.
    """
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    missing = [key for key in (VERSION_KEY, _CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RefusedError(INVALID_PARAMS, f"params._meta has no {', no '.join(missing)}")
    version = meta[VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta[_CAPABILITIES_KEY], dict):
        raise RefusedError(
            INVALID_PARAMS, "In params._meta the version is a text, the capabilities are an object"
        )
    if version != MODERN:
        told = {"supported": [MODERN], "requested": version}
        raise RefusedError(UNSUPPORTED_VERSION, "Unsupported protocol version", told)


@attrs.frozen
class Protocol:
    """Answers requests.

    Args:
        call: Calls a tool of the table.
    """

    call: Call

    async def answer(self, request: JsonObject, *, modern: bool) -> JsonObject:
        """The response to a request, which may be a refusal.

        Args:
            request: As `frames.decode` gives it.
            modern: The era that it speaks.
        """
        try:
            result = await self._result(request["method"], request.get("params", {}), modern=modern)
        except RefusedError as error:
            return refused(request["id"], error.code, str(error), error.data)
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    async def _result(self, method: str, params: JsonObject, *, modern: bool) -> JsonObject:
        if modern:
            insist_on_envelope(params)
        match method:
            case "tools/list":
                result = _listed(params) | (_UNCACHED if modern else {})
            case "tools/call":
                result = await self._called(params)
            case "server/discover" if modern:
                result = _described() | {"supportedVersions": [MODERN]} | _UNCACHED
            case "initialize" if not modern:
                result = _described() | {"protocolVersion": _agreed(params), "serverInfo": _SERVER}
            case "ping" if not modern:
                result = {}
            case _:
                raise RefusedError(METHOD_NOT_FOUND, "Method not found", method)
        return result | ({"resultType": "complete", "_meta": {_SERVER_KEY: _SERVER}} if modern else {})

    async def _called(self, params: JsonObject) -> JsonObject:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise RefusedError(INVALID_PARAMS, "name is a text, arguments are an object")
        if name not in BY_NAME:
            raise RefusedError(INVALID_PARAMS, f"Unknown tool. The tools are: {', '.join(BY_NAME)}.")
        result = await self.call(name, arguments or {})
        content = {"content": [{"type": "text", "text": result.text}]}
        if result.structured is None:
            return content | {"isError": True}
        return content | {"structuredContent": result.structured, "isError": False}


def _described() -> JsonObject:
    return {"capabilities": _CAPABILITIES, "instructions": INSTRUCTIONS}


def _agreed(params: JsonObject) -> str:
    """The client's revision where hub speaks it, else the newest that hub does: the client decides whether to go on.

    What it leaves out is not missed: hub keeps nothing of a client, and serves one that never says hello.
    """
    kinds = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
    if not all(isinstance(params.get(name, kind()), kind) for name, kind in kinds.items()):
        raise RefusedError(
            INVALID_PARAMS, "protocolVersion is a text, capabilities and clientInfo are objects"
        )
    asked = params.get("protocolVersion")
    return asked if asked in HANDSHAKE else HANDSHAKE[-1]


def _listed(params: JsonObject) -> JsonObject:
    if params.get("cursor") is not None:
        raise RefusedError(INVALID_PARAMS, "Unknown cursor: all tools are told at once.")
    return {"tools": [_tool(tool) for tool in TOOLS]}


def _tool(tool: Tool) -> JsonObject:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }
