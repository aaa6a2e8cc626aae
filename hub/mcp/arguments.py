"""What a tool was called with, checked against its schema.

Owns: the rules of JSON Schema that the tools' flat schemas use, and how a refusal is told to a model.
Must not: coerce what is wrong into something right, or repeat what was given.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.errors import Code, HubError
from hub.mcp.tools import Tool
from hub.wire.frames import JsonObject

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
            return value if isinstance(value, str) and _within(schema, len(value), "Length") else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "integer" if isinstance(value, float) and value.is_integer():
            return _value(schema, int(value))
        case "integer" if type(value) is not int:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if _within(schema, value, "imum") else None


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
        return f"{noun} of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    if "exclusiveMinimum" in schema:
        return f"{noun} above {schema['exclusiveMinimum']}, at most {schema['maximum']}"
    if "minimum" in schema:
        return f"{noun} from {schema['minimum']} to {schema['maximum']}"
    return noun
