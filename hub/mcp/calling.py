"""One call of a tool: one request to the daemon.

Owns: the way from arguments to a request and from its answer, or refusal, to a result.
Must not: keep anything from one call to the next, or know a transport of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from hub.client.quick import Api
from hub.errors import Code, HubError
from hub.mcp.arguments import checked
from hub.mcp.pages import page
from hub.mcp.tools import BY_NAME, JsonObject, Tool
from hub.mcp.words import cleaned, refusal, words


@attrs.frozen
class Result:
    """What a call came to."""

    text: str
    structured: JsonObject | None = None
    """None = it was refused, and `text` says why."""


@attrs.frozen
class Caller:
    """Calls tools.

    Args:
        api: Finds the daemon, anew for each call: it may have come or moved since the last one.
        clean: Takes out of a text what a terminal would act on.
    """

    api: Callable[[], Api]
    clean: Callable[[str], str]

    def __call__(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Call a tool that is in the table. Blocks for as long as the daemon takes; never raises."""
        tool = BY_NAME[name]
        try:
            given = checked(tool, arguments)
            answer = page(tool, cleaned(self._ask(tool, given), self.clean), given)
            return Result(words(tool, answer), answer)
        except HubError as error:
            return Result(self.clean(refusal(error)))
        except Exception as error:  # noqa: BLE001  # the edge: an answer that is not what the API promises
            fault = HubError(
                Code.INTERNAL, f"{tool.name} could not read the daemon's answer: {type(error).__name__}"
            )
            return Result(refusal(fault))

    def _ask(self, tool: Tool, given: JsonObject) -> Any:
        asked = {
            **tool.fixed,
            **{param.name: given[param.name] for param in tool.params if param.name in given},
        }
        api = self.api()
        return api.get(tool.path, asked) if tool.method == "GET" else api.post(tool.path, asked)
