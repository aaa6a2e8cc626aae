"""Every endpoint the specification names is served, and with the fields it names."""

import ast
from pathlib import Path

import pytest

from hub.api.convert import fields_of
from hub.web import openapi
from hub.web.routes import table
from hub.web.stream import SOCKET, SSE

ENDPOINTS = """
GET /api/health: ok port
GET /api/status: sessionId taskId taskGoal role activeProvider tokensUsed graphNodes handoffsDone hfsScore hfsHistory fsmState
GET /api/providers: name status
GET /api/config/providers: name enabled declaredCap model baseUrl accounts activeAccount
POST /api/config/providers < name enabled declaredCap model baseUrl
POST /api/providers/install < name
POST /api/providers/oauth < name
POST /api/providers/api-key < name value
POST /api/providers/account < provider label
POST /api/providers/account/add < provider label configDir
POST /api/providers/account/remove < provider label
POST /api/providers/account/login < provider label
GET /api/detect < sinceHours: id provider displayName surface pid running workDir account detectedVia lastActive session
POST /api/detect/adopt < id target start interactive
GET /api/quota/wallet: provider account remaining total fractionUsed resetsAt source burnPerMin etaMinutes
GET /api/pipelines: name nodes
POST /api/pipelines
POST /api/pipelines/run < name
GET /api/history: seq ts event provider summary
GET /api/history/commits: sha short subject when
GET /api/history/diff < sha
POST /api/history/rewind < sha
GET /api/profiles: name chain kinds skills contextHint
POST /api/profiles < name chain kinds skills contextHint delete
POST /api/run < task threshold maxHandoffs
POST /api/handoff
POST /api/session/pause < pause
POST /api/session/reply < reply
GET /api/session/diff: summary diff
GET /api/session/cost: sessionUsd tokensIn tokensOut provider
GET /api/approvals: id action reason severity createdAt
POST /api/approvals/{id} < approved note
GET /api/events < since: id ts tag msg
GET /ws
GET /api/graph: nodes edges
GET /api/graph/detail: nodes edges
GET /api/graph/project < path: nodes edges
GET /api/retrieval < q limit: ID Path Lang StartLine EndLine Body SHA Dim
GET /api/contract
GET /api/instructions: path kind title scope bytes sha256
GET /api/vision/config: enabled provider model baseUrl maxPixels
POST /api/vision/config < enabled provider model baseUrl maxPixels
POST /api/vision/probe < image url prompt: text model width height latencyMs
GET /api/localmodel/models < baseUrl
POST /api/localmodel/pull < baseUrl tag
POST /api/localmodel/launch < provider model
GET /api/circuit: name state failures openedAt
GET /api/outcomes: profile runs successes successRate avgTokens avgCostUsd lastRun
GET /api/redactions: summary
GET /openapi.json
GET /metrics
GET /api/events/stream
GET /api/audit/head
GET /api/system/tree
GET /
"""
"""Method and path `<` what it takes `:` what it answers, word for word."""
DOCUMENT = openapi.describe([*table(1), SOCKET, SSE, openapi.route(table(1))])


def parts(line):
    what, _, answered = line.partition(":")
    name, _, taken = what.partition(" < ")
    return name.strip(), taken.split(), answered.split()


LINES = [parts(line) for line in ENDPOINTS.strip().splitlines()]


def resolved(schema):
    """The object a schema describes; of an array its items', with what references and choices lead to."""
    if "$ref" in schema:
        return resolved(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return resolved(schema["items"]) if "items" in schema else schema


@pytest.mark.parametrize(("name", "taken", "answered"), LINES, ids=[line[0] for line in LINES])
def test_an_endpoint_is_served_with_its_fields(name, taken, answered):
    method, path = name.split()
    operation = DOCUMENT["paths"][path][method.lower()]
    given = {entry["name"] for entry in operation.get("parameters", ())}
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        given |= set(resolved(schema).get("properties", ()))
    assert set(taken) <= given
    done = next(
        operation["responses"][status]
        for status in operation["responses"]
        if int(status) < 300 or status == "101"
    )
    if answered:
        schema = resolved(done["content"]["application/json"]["schema"])
        assert set(answered) <= set(schema["properties"])


def test_every_post_answers_ok():
    """The contract: a POST answers `{"ok": true, ...}` with what it made or changed."""
    posts = [route for route in table(1) if route.method == "POST"]
    assert [route.path for route in posts if "ok" not in fields_of(route.answer)] == []


def test_no_path_is_served_twice():
    routes = table(1)
    assert len({(route.method, route.path) for route in routes}) == len(routes)


SERVED = (
    "hub/actors",
    "hub/api",
    "hub/domain",
    "hub/io/config",
    "hub/io/git",
    "hub/io/models",
    "hub/io/secrets",
    "hub/web",
)
"""Where what a request brings is looked at."""


def test_what_does_not_validate_names_its_field():
    """422: each problem with its JSON path. So whatever refuses a field does it by `invalid_field` or `invalid`, which write one."""
    makers = {"hub/domain/missing.py", "hub/domain/config/schema.py"}
    root = Path(__file__).parents[3]
    files = [file for room in SERVED for file in sorted((root / room).rglob("*.py"))]
    bare = [
        f"{file.relative_to(root)}:{node.lineno}"
        for file in files
        if str(file.relative_to(root)) not in makers
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and [ast.unparse(arg) for arg in node.args[:1]] == ["Code.INVALID"]
    ]
    assert len(files) > 200
    assert bare == []
