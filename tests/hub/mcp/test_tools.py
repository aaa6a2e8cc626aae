"""The table of tools: what the specification lists, in schemas every client understands, with the API's limits."""

import re

import pytest

from hub.mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Paging
from hub.web import openapi
from hub.web.routes import table

SPECIFIED = {
    "hub_status": ("GET", "/api/status", []),
    "hub_providers": ("GET", "/api/providers", []),
    "hub_run_task": ("POST", "/api/run", ["task", "threshold"]),
    "hub_handoff": ("POST", "/api/handoff", []),
    "hub_retrieve": ("GET", "/api/retrieval", ["q", "limit"]),
    "hub_diff": ("GET", "/api/session/diff", []),
    "hub_cost": ("GET", "/api/session/cost", []),
    "hub_send_reply": ("POST", "/api/session/reply", ["reply"]),
    "hub_list_profiles": ("GET", "/api/profiles", []),
    "hub_pause": ("POST", "/api/session/pause", ["pause"]),
    "hub_events": ("GET", "/api/events", ["since"]),
}
"""Name -> what it maps to, and its parameters."""
LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern")
KNOWN = {"type", "description", *LIMITS}
ROUTES = table(4748)
DOCUMENT = openapi.describe(ROUTES)
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def test_the_tools_are_those_of_the_specification_in_its_order():
    made = {tool.name: (tool.method, tool.path, [param.name for param in tool.params]) for tool in TOOLS}
    assert list(made.items()) == list(SPECIFIED.items())


@each_tool
def test_names_fit_every_client(tool):
    """Cursor allows 60 characters with the server's name, Copilot refuses dots and slashes."""
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,40}", tool.name)


@each_tool
def test_input_schemas_are_flat(tool):
    """Gemini refuses a request with a reference, a union or an untyped member in any tool's schema."""
    schema = tool.input_schema
    assert set(schema) <= {"type", "properties", "required", "additionalProperties"}
    assert schema["type"] == "object"
    assert set(schema.get("required", ())) <= set(schema["properties"])
    for member in schema["properties"].values():
        assert set(member) <= KNOWN
        assert member["type"] in {"string", "integer", "number", "boolean"}
        assert member["description"]


@each_tool
def test_output_schemas_have_typed_members_only(tool):
    schema = tool.output_schema
    assert (schema["type"], set(schema.get("required", ())) <= set(schema["properties"])) == ("object", True)
    for member in schema["properties"].values():
        assert member["type"] in {"string", "integer", "number", "boolean", "array"}
        assert member["description"]
        assert "items" in member or member["type"] != "array"


@each_tool
def test_hints_agree_with_the_method(tool):
    """A GET changes nothing (rule G12); the rest acts."""
    hints = tool.annotations
    assert hints["readOnlyHint"] == (tool.method == "GET")
    assert set(hints) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert hints["idempotentHint"] or tool.method == "POST"


@each_tool
def test_limits_are_those_of_the_api(tool):
    """What a tool's schema allows the API takes, and nothing the API takes is refused here."""
    path = DOCUMENT["paths"].get(tool.path)
    if path is None:
        assert tool.name == "hub_retrieve", "only this route may still be missing"
        return
    operation = path[tool.method.lower()]
    for param in tool.params:
        theirs = given(operation)[param.name]
        assert {key: param.schema.get(key) for key in ("type", *LIMITS)} == {
            key: theirs.get(key) for key in ("type", *LIMITS)
        }


def given(operation):
    """What an operation of the API takes: name -> schema."""
    if "requestBody" not in operation:
        return {item["name"]: item["schema"] for item in operation.get("parameters", ())}
    schema = resolved(operation["requestBody"]["content"]["application/json"]["schema"])
    return {name: resolved(member) for name, member in schema["properties"].items()}


def resolved(schema):
    """A schema without its reference."""
    if "$ref" in schema:
        return DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


@each_tool
def test_members_that_are_told_exist(tool):
    """A member of the structured answer is one of the API's answer, with its type."""
    path = DOCUMENT["paths"].get(tool.path)
    if path is None or tool.wraps:
        return
    operation = path[tool.method.lower()]
    done = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    theirs = resolved(done["content"]["application/json"]["schema"])["properties"]
    for name, member in tool.output.items():
        kind = resolved(theirs[name])
        kinds = {kind.get("type")} | {part.get("type") for part in kind.get("anyOf", ())}
        assert member["type"] in kinds | ({"boolean"} if "enum" in kind else set()) | (
            {"string"} if "enum" in kind else set()
        ), name


def test_what_is_long_can_be_asked_for_in_parts():
    """Every answer whose size nobody bounds has a way to its rest."""
    whole = {tool.name for tool in TOOLS if tool.paging is Paging.NONE}
    assert whole == {"hub_status", "hub_run_task", "hub_handoff", "hub_cost", "hub_send_reply", "hub_pause"}
    assert "cursor" in BY_NAME["hub_diff"].input_schema["properties"]


def test_the_instructions_name_tools_that_exist():
    assert set(re.findall(r"\bhub_\w+", INSTRUCTIONS)) <= set(BY_NAME)
