"""`GET /openapi.json`: OpenAPI 3.1 from the route table.

Owns: how an operation and its types become OpenAPI, and which errors any operation may give.
Must not: hold a word about a single route; what it says is in the table, the types and `hub.errors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import hub
from hub.api.base import Nothing, Problem
from hub.api.convert import fields_of
from hub.api.schema import REF, Schemas
from hub.domain.jsonvalue import JsonObject
from hub.errors import RULES, Code
from hub.web.codec import required
from hub.web.context import Context
from hub.web.problem import MEDIA_TYPE
from hub.web.route import Operation, Route, get
from hub.web.stream import SOCKET, SSE
from hub.web.tools import TOOLS

ANY_CODES = frozenset(
    {
        Code.MALFORMED,
        Code.BAD_HOST,
        Code.TOKEN_NEEDED,
        Code.OTHER_USER,
        Code.FOREIGN_ORIGIN,
        Code.METHOD_NOT_ALLOWED,
        Code.MISDIRECTED,
        Code.OTHER_PROJECT,
        Code.INVALID,
        Code.HEADERS_TOO_LARGE,
        Code.INTERNAL,
        Code.INSTALL_BROKEN,
        Code.OUTDATED,
        Code.UNAVAILABLE,
        Code.TIMEOUT,
    }
)
"""What the guard, the codec and the edge may answer to any operation."""
POST_CODES = frozenset(
    {Code.TOO_LARGE, Code.UNSUPPORTED_MEDIA_TYPE, Code.NO_SPACE, Code.READ_ONLY, Code.DISK_FAILED}
)
"""What may be answered besides to an operation that has a body and writes."""

_ERRORS = 400


def codes(operation: Operation) -> frozenset[Code]:
    """Every error an operation may give."""
    return ANY_CODES | operation.codes | (POST_CODES if operation.method == "POST" else frozenset())


def route(routes: Sequence[Route]) -> Route:
    """The route that serves the description of `routes`, of the streams, of the tool server and of itself."""

    @cache  # made when it is first asked for: a start has no use for it
    def document() -> JsonObject:
        return describe([*routes, SOCKET, SSE, TOOLS, own])

    async def openapi(_: Context, __: Nothing) -> JsonObject:
        return document()

    own = get("/openapi.json", "This description of the API.", openapi, answer=dict[str, object])
    return own


def describe(operations: Iterable[Operation]) -> JsonObject:
    """The OpenAPI document of `operations`."""
    schemas = Schemas()
    schemas.of(Problem)
    paths: dict[str, JsonObject] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "hub", "version": hub.__version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "security": [{}, {"token": []}],
        "components": {"schemas": schemas.components, "securitySchemes": {"token": _TOKEN}},
    }


_ABOUT = (
    "The daemon's API, on loopback only and for the processes of the user who runs it: the kernel tells whose a connection "
    "is. Where [server] token is set every request needs it, and whoever sends it is served. "
    "Send a Host of 127.0.0.1, localhost or [::1] with the port, no foreign Origin, and application/json. "
    "Unknown fields and parameters are refused, and so is a NUL in a text."
)
_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Where [server] token is set, on every request; on a WebSocket also as a subprotocol.",
}


def _operation(operation: Operation, schemas: Schemas) -> JsonObject:
    described: JsonObject = {
        "operationId": _name(operation),
        "summary": operation.summary,
        "responses": _responses(operation, schemas.of(operation.answer)),
    }
    if parameters := _parameters(operation, schemas):
        described["parameters"] = parameters
    if operation.method == "POST":
        described["requestBody"] = _body(operation, schemas)
    return described


def _name(operation: Operation) -> str:
    words = operation.path.replace("{", "").replace("}", "").replace(".", "/").replace("-", "/").split("/")
    return operation.method.lower() + "".join(word.title() for word in words if word != "api")


def _parameters(operation: Operation, schemas: Schemas) -> list[JsonObject]:
    if operation.method == "POST" and not operation.parameters:
        return []
    names = fields_of(operation.given) if operation.method == "GET" else operation.parameters
    schema = schemas.of_fields(operation.given, names)
    return [
        {
            "name": name,
            "in": "path" if name in operation.parameters else "query",
            "required": name in schema["required"],
            "schema": value,
        }
        for name, value in schema["properties"].items()
    ]


def _body(operation: Operation, schemas: Schemas) -> JsonObject:
    """Of one whose path has parameters it is described in its place, without what the path gives."""
    if operation.parameters:
        schema = schemas.of_fields(
            operation.given, fields_of(operation.given).keys() - {*operation.parameters}
        )
    else:
        schema = schemas.of(operation.given)
    return {"required": required(operation.given), "content": {"application/json": {"schema": schema}}}


def _responses(operation: Operation, answer: JsonObject) -> JsonObject:
    done: JsonObject = {"description": "Done"}
    if operation.status == SOCKET.status:
        done = {"description": "A WebSocket follows", "x-message": answer}
    else:
        done["content"] = {operation.media: {"schema": answer}}
    by_status: dict[int, list[Code]] = {}
    for code in sorted(codes(operation)):
        by_status.setdefault(RULES[code].status, []).append(code)
    problems = {str(status): _problem(status, found) for status, found in sorted(by_status.items())}
    described = {str(operation.status): done, **problems}
    for status, words in operation.protocol.items():
        spoken = described.setdefault(str(status), {"description": words})
        if status >= _ERRORS:
            spoken["content"] = {
                **spoken.get("content", {}),
                "application/json": {"schema": {"description": words}},
            }
    return described


def _problem(status: int, found: list[Code]) -> JsonObject:
    narrowed = {"properties": {"code": {"enum": [code.value for code in found]}, "status": {"const": status}}}
    schema = {"allOf": [{"$ref": REF.format(name=Problem.__name__)}, narrowed]}
    described: JsonObject = {
        "description": "; ".join(RULES[code].title for code in found),
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
    if Code.UNAVAILABLE in found:
        described["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    if Code.METHOD_NOT_ALLOWED in found:
        described["headers"] = {"Allow": {"schema": {"type": "string"}}}
    return described
