"""The description of the API says what is served: all of it, and nothing else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from hub.api.base import Done
from hub.api.meta import Sha
from hub.errors import RULES, Code
from hub.installed import install_broken, outdated
from hub.web import guard, openapi
from hub.web.codec import decode_body
from hub.web.guard import Policy
from hub.web.openapi import codes
from hub.web.problem import as_hub_error
from hub.web.route import Operation, post
from hub.web.routes import table
from hub.web.routing import quart_app
from hub.web.stream import SOCKET, SSE
from hub.web.tools import TOOLS
from tests.hub.web.fake import Fake, Server
from tests.hub.web.wire import ask

OPERATIONS: list[Operation] = [*table(1), SOCKET, SSE, TOOLS]


@pytest.fixture
async def document(server: Server) -> Any:
    return (await ask(server.port, "GET", "/openapi.json")).json


async def test_every_route_is_there_and_no_other(document: Any):
    """Against Quart's own map, so that a route which bypasses the table is found too."""
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    quart = quart_app(table(1), Fake(), str)
    served = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in quart.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert described == served | {("GET", SOCKET.path), ("GET", SSE.path), ("POST", TOOLS.path)}


def schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Every object in the document, however deep."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from schemas(inner)


async def test_what_is_refused_by_a_pattern_is_said_in_words(document: Any):
    """A problem shows the words beside the pattern: an acceptance command of blanks was `regex '\\S'` alone."""
    told = [each for each in schemas(document) if isinstance(each.get("pattern"), str)]
    assert told
    assert [each for each in told if not each.get("description")] == []


async def test_every_status_of_every_operation_is_there(document: Any):
    for operation in OPERATIONS:
        responses = document["paths"][operation.path][operation.method.lower()]["responses"]
        expected = {operation.status} | {RULES[code].status for code in codes(operation)}
        expected |= set(operation.protocol)
        assert {int(status) for status in responses} == expected, operation.path
        for status, response in responses.items():
            assert response["description"]
            if int(status) >= 400:
                spoken = ["application/json"] if int(status) in operation.protocol else []
                assert list(response["content"]) == ["application/problem+json", *spoken]


async def test_the_statuses_of_the_guard_are_there(document: Any):
    """Those its source names, read from the source, so that a rule added there must be described here."""
    named = {Code[name] for name in re.findall(r"Code\.([A-Z_]+)", inspect.getsource(guard))}
    assert named == {
        Code.TOKEN_NEEDED, Code.OTHER_PROJECT, Code.FOREIGN_ORIGIN, Code.HEADERS_TOO_LARGE, Code.BAD_HOST, Code.MISDIRECTED, Code.MALFORMED,
        Code.METHOD_NOT_ALLOWED, Code.UNSUPPORTED_MEDIA_TYPE, Code.TOO_LARGE, Code.OTHER_USER, Code.UNAVAILABLE,
    }  # fmt: skip
    for operation in OPERATIONS:
        with_body = (
            named if operation.method == "POST" else named - {Code.UNSUPPORTED_MEDIA_TYPE, Code.TOO_LARGE}
        )
        assert with_body <= codes(operation)


async def test_what_the_edge_makes_of_any_exception_is_there():
    """Read from its source: `install_broken` was on no operation's list."""
    named = {Code[name] for name in re.findall(r"Code\.([A-Z_]+)", inspect.getsource(as_hub_error))}
    named |= {install_broken(ImportError("x")).code, outdated().code}
    assert named <= codes(OPERATIONS[0])


async def test_the_problem_schema_has_the_closed_list_of_codes(document: Any):
    schemas = document["components"]["schemas"]
    assert set(schemas["Code"]["enum"]) == {code.value for code in Code}
    assert set(schemas["Problem"]["required"]) == {"type", "title", "status", "detail", "code", "hint"}


async def test_references_lead_somewhere_and_names_are_single(document: Any):
    targets = set(document["components"]["schemas"])
    references = {value.removeprefix("#/components/schemas/") for value in found(document, "$ref")}
    assert references <= targets
    assert targets - references == set(), "nothing is described that nobody uses"
    names = list(found(document, "operationId"))
    assert len(set(names)) == len(names)


async def test_bodies_and_parameters_are_described_as_they_are_checked(document: Any):
    run = document["components"]["schemas"]["Run"]
    assert run["additionalProperties"] is False
    assert run["required"] == ["task"]
    threshold = run["properties"]["threshold"]
    assert (threshold["type"], threshold["exclusiveMinimum"], threshold["maximum"]) == ("number", 0, 1)
    task = run["properties"]["task"]
    assert (task["type"], task["minLength"], task["maxLength"], task["pattern"]) == (
        "string",
        1,
        100_000,
        r"\S",
    )
    assert document["paths"]["/api/run"]["post"]["requestBody"]["required"] is True
    assert document["paths"]["/api/handoff"]["post"]["requestBody"]["required"] is False
    (sha,) = document["paths"]["/api/history/diff"]["get"]["parameters"]
    assert (sha["name"], sha["in"], sha["required"]) == ("sha", "query", True)
    names = {entry["name"] for entry in document["paths"]["/ws"]["get"]["parameters"]}
    assert names == {"since", "batch"}


async def test_what_needs_no_body_is_described_so(server: Server, document: Any):
    """`POST /api/vision/config` takes none as one without a field, and was described as one that refuses it."""
    for route in (route for route in table(1) if route.method == "POST"):
        reply = await ask(server.port, "POST", route.path.replace("{id}", "a-1f2e3d4c5b6a"))
        described = document["paths"][route.path]["post"]["requestBody"]["required"]
        assert described is (reply.status in (400, 422)), route.path


async def test_every_operation_has_a_summary(document: Any):
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"].endswith(".")


@attrs.frozen(kw_only=True)
class Named:
    """A body with a field that the path gives."""

    sha: Sha
    note: str = ""


async def _named(_: Any, __: Named) -> Any:
    """Does nothing."""


def test_a_path_parameter_is_one_and_no_field_of_the_body():
    """For the routes to come: a path with braces needs nothing but its type."""
    route = post("/api/thing/{sha}", "Do something to one commit.", _named, given=Named, answer=Done)
    described = openapi.describe([route])["paths"]["/api/thing/{sha}"]["post"]
    assert [(entry["name"], entry["in"], entry["required"]) for entry in described["parameters"]] == [
        ("sha", "path", True)
    ]
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    assert (list(schema["properties"]), schema["required"]) == (["note"], [])
    assert decode_body(b'{"note":"x"}', Named, {"sha": "abcdef0"}) == Named(sha="abcdef0", note="x")


async def test_it_is_valid_openapi(document: Any):
    """By the standard's own schema. Imported here: it takes longer than all other tests of this file."""
    from openapi_spec_validator import validate

    validate(document)


def found(value: Any, key: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name == key:
                yield item
            yield from found(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from found(item, key)


def test_the_policy_knows_its_port():
    assert Policy.for_port(5).hosts == {b"127.0.0.1:5", b"localhost:5", b"[::1]:5"}
