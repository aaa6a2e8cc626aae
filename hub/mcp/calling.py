"""One call of a tool: one request to the API.

Owns: the way from arguments, which are checked, to a request, and from its answer, or refusal, to a result and its text.
Must not: tell more or less in the text than the structured answer does, keep anything from one call to the next, or know
a transport of the protocol.
Tests: tests/hub/mcp/test_arguments.py, tests/hub/mcp/test_pages.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Protocol

import attrs
import trio

from hub.domain.jsonvalue import JsonObject
from hub.domain.text.plain import plain_value
from hub.domain.text.safe import clean
from hub.errors import Code, HubError
from hub.mcp.pages import page
from hub.mcp.tools import BY_COMMAND, BY_NAME, NOT_BLANK, Tool

_NOUNS = {"string": "a text", "integer": "an integer", "number": "a number", "boolean": "true or false"}


def checked(tool: Tool, given: Mapping[str, object]) -> JsonObject:
    """The arguments, in the order of the schema; what was left out is not in it.

    Raises:
        HubError: `invalid`, naming what is allowed.
    """
    schemas: JsonObject = tool.input_schema["properties"]
    unknown = sorted(set(given) - set(schemas))
    if unknown:
        allowed = ", ".join(schemas) or "none"
        raise _refused(tool, f"{tool.name} takes no argument {unknown[0][:64]!r}; its arguments: {allowed}.")
    for param in tool.arguments:
        if param.required and param.name not in given:
            raise _refused(tool, f"{tool.name} needs {param.name}: {_allowed(param.schema)}.")
    values = {name: _value(schema, given[name]) for name, schema in schemas.items() if name in given}
    for name, value in values.items():
        if value is None:
            raise _refused(tool, f"{name} must be {_allowed(schemas[name])}.")
    return values


def _refused(tool: Tool, detail: str) -> HubError:
    return HubError(Code.INVALID, detail, hint=f"Call {tool.name} again with such a value.")


def _value(schema: JsonObject, value: object) -> object:
    """The value as its type, None when it does not validate. To JSON 5.0 is an integer."""
    match schema["type"]:
        case "string":
            return value if isinstance(value, str) and _spelled(schema, value) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "integer" if isinstance(value, float) and value.is_integer():
            return _value(schema, int(value))
        case "integer" if type(value) is not int:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if _within(schema, value, "imum") else None


def _spelled(schema: JsonObject, text: str) -> bool:
    """Whether a text keeps to its length and its pattern."""
    return _within(schema, len(text), "Length") and bool(re.search(schema.get("pattern", ""), text))


def _within(schema: JsonObject, value: float, suffix: str) -> bool:
    """Whether a value keeps to `min...`, `max...` and `exclusiveMinimum`. NaN keeps to nothing."""
    least, most = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    above = schema.get("exclusiveMinimum")
    return (
        (least is None or value >= least)
        and (most is None or value <= most)
        and (above is None or value > above)
    )


def _allowed(schema: JsonObject) -> str:
    """What a schema allows, in words."""
    noun = _NOUNS[schema["type"]]
    if "maxLength" in schema:
        more = ", not of blanks alone" if schema.get("pattern") == NOT_BLANK else ""
        return f"{noun} of {schema.get('minLength', 0)} to {schema['maxLength']} characters{more}"
    if "exclusiveMinimum" in schema:
        return f"{noun} above {schema['exclusiveMinimum']}, at most {schema['maximum']}"
    if "minimum" in schema:
        return f"{noun} from {schema['minimum']} to {schema['maximum']}"
    return noun


def words(tool: Tool, answer: JsonObject) -> str:
    """What a tool answered."""
    if tool.name == "hub_diff":
        text = f"{answer['summary'].rstrip()}\n\n{answer['diff']}".strip() or "Nothing was changed."
    elif tool.wraps:
        line = _event if tool.name == "hub_events" else _line
        text = "\n".join(map(line, answer[tool.wraps])) or f"No {tool.wraps}."
    else:
        text = "\n".join(f"{name}: {_plain(value)}" for name, value in answer.items())
    return text + _rest(answer)


def refusal(error: HubError) -> str:
    """Why a tool could not do it, and the next step."""
    lines = [f"{error.code.value}: {error.detail}"]
    problems = [item for item in error.extra.get("errors", ()) if isinstance(item, dict)]
    told = [(str(item.get("path", "")), str(item.get("message", ""))) for item in problems[:10]]
    lines += [f"{path}: {message}" for path, message in told if message not in error.detail]
    lines += [f"Next step: {_COMMAND.sub(_as_tool, error.hint)}"] if error.hint else []
    return "\n".join(lines)


_COMMAND = re.compile(
    r"""(?<![\w/.-])hub ([a-z]+(?![\w/-])(?: (?:"[^"\n]{0,200}"|(?:[^\s",.;:()`]|\.(?=[\w/]))+))*)"""
)
"""A command with all its words, as a hint names it to those who have a terminal."""
_QUOTED = re.compile(r'"[^"]*"')


def _as_tool(found: re.Match[str]) -> str:
    """The tool for a command; what has a word that no tool has an argument for stays a command."""
    return BY_COMMAND.get(_QUOTED.sub('"..."', found[1]), found[0])


def _rest(answer: JsonObject) -> str:
    if not answer.get("more"):
        return ""
    name = "since" if "events" in answer else "cursor"
    return f"\n(There is more: ask again with {name} = {answer['next']}.)"


def _event(record: JsonObject) -> str:
    head = " ".join(str(record.get(name, "")) for name in ("id", "ts", "tag", "msg"))
    meta = record.get("meta")
    return f"{head} {_plain(meta)}" if meta else head


def _line(item: object) -> str:
    if not isinstance(item, dict):
        return f"- {_plain(item)}"
    return "- " + ", ".join(
        f"{name}: {_plain(value)}" for name, value in item.items() if value not in (None, "")
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    """

    api: ToolApi

    async def __call__(self, name: str, arguments: Mapping[str, object]) -> Result:
        """Call a tool that is in the table. Takes as long as the daemon does; never raises an error."""
        tool = BY_NAME[name]
        try:
            given = checked(tool, arguments)
            answer = await self._ask(tool, given)
            return await trio.to_thread.run_sync(self._result, tool, answer, given)  # it may be large
        except HubError as error:
            return Result(clean(refusal(error)))
        except Exception as error:  # noqa: BLE001  # the edge: an answer that is not what the API promises
            fault = HubError(
                Code.INTERNAL, f"{tool.name} could not read the daemon's answer: {type(error).__name__}"
            )
            return Result(refusal(fault))

    def _result(self, tool: Tool, answer: object, given: JsonObject) -> Result:
        part = page(tool, plain_value(answer), given)
        return Result(words(tool, part), part)

    async def _ask(self, tool: Tool, given: JsonObject) -> object:
        asked = {
            **tool.fixed,
            **{param.name: given[param.name] for param in tool.params if param.name in given},
        }
        return await (self.api.get if tool.method == "GET" else self.api.post)(tool.path, asked)
