"""One call of a tool: one request to the API.

Owns: the way from arguments to a request and from its answer, or refusal, to a result.
Must not: keep anything from one call to the next, or know a transport of the protocol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import quote

import attrs
import trio

from hub.errors import Code, HubError
from hub.mcp.arguments import checked
from hub.mcp.pages import page
from hub.mcp.tools import BY_NAME, Tool
from hub.mcp.words import cleaned, refusal, words
from hub.wire.frames import JsonObject

_PARAMETER = re.compile(r"{(\w+)}")


class ToolApi(Protocol):
    """The daemon's API. Both methods raise `HubError`, whose texts are those of the problem document."""

    async def get(self, path: str, query: Mapping[str, object], /) -> object:
        """The JSON of a resource."""

    async def post(self, path: str, body: Mapping[str, object], /) -> object:
        """What a POST made or changed."""


@attrs.frozen
class Result:
    """What a call came to."""

    text: str
    structured: JsonObject | None = None
    """None = it was refused, and `text` says why."""


@attrs.frozen
class ToolCaller:
    """Calls tools.

    Args:
        api: What is asked.
        clean: Takes out of a text what a terminal would act on.
    """

    api: ToolApi
    clean: Callable[[str], str]

    async def __call__(self, name: str, arguments: Mapping[str, object]) -> Result:
        """Call a tool that is in the table. Takes as long as the daemon does; never raises an error."""
        tool = BY_NAME[name]
        try:
            given = checked(tool, arguments)
            answer = await self._ask(tool, given)
            return await trio.to_thread.run_sync(self._result, tool, answer, given)  # it may be large
        except HubError as error:
            return Result(self.clean(refusal(error)))
        except Exception as error:  # noqa: BLE001  # the edge: an answer that is not what the API promises
            fault = HubError(
                Code.INTERNAL, f"{tool.name} could not read the daemon's answer: {type(error).__name__}"
            )
            return Result(refusal(fault))

    def _result(self, tool: Tool, answer: object, given: JsonObject) -> Result:
        part = page(tool, cleaned(answer, self.clean), given)
        return Result(words(tool, part), part)

    async def _ask(self, tool: Tool, given: JsonObject) -> object:
        asked = {
            **tool.fixed,
            **{param.name: given[param.name] for param in tool.params if param.name in given},
        }
        path = _PARAMETER.sub(lambda found: quote(str(asked.pop(found[1])), safe=""), tool.path)
        return await (self.api.get if tool.method == "GET" else self.api.post)(path, asked)
