"""The approval routes: the specification's fields, the answer that is passed on, and what is refused before."""

from __future__ import annotations

from typing import Any

import pytest

from hub.messages.approvals import ResolveApproval
from tests.hub.web.fake import Server
from tests.hub.web.wire import ask

ONE = "/api/approvals/a-1f2e3d4c5b6a"


async def test_the_list_has_the_fields_of_the_specification(server: Server):
    """Specification, Approval: `{id, action, reason, severity, createdAt}`; more may be there, none may be missing."""
    reply = await ask(server.port, "GET", "/api/approvals")
    assert reply.status == 200
    assert {"id", "action", "reason", "severity", "createdAt"} <= set(reply.json[0])
    document = (await ask(server.port, "GET", "/openapi.json")).json
    described = document["components"]["schemas"]["Approval"]
    assert set(described["properties"]) == set(reply.json[0])
    assert set(described["properties"]["severity"]["enum"]) == {"info", "warn", "danger"}


@pytest.mark.parametrize(
    ("body", "passed"),
    [
        ({"approved": True}, (True, "")),
        ({"approved": False, "note": "use staging"}, (False, "use staging")),
    ],
)
async def test_an_answer_is_passed_on(server: Server, body: Any, passed: tuple[bool, str]):
    """Specification: `POST /api/approvals/<id>` takes `{approved, note}`; the note may be left out."""
    reply = await ask(server.port, "POST", ONE, body)
    assert (reply.status, reply.json) == (200, {"ok": True, "id": "a-1f2e3d4c5b6a", "approved": passed[0]})
    assert server.actors.calls == [ResolveApproval("a-1f2e3d4c5b6a", *passed)]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (ONE, {}, "$.approved"),
        (ONE, {"approved": "yes"}, "$.approved"),
        (ONE, {"approved": True, "note": "x" * 10_001}, "$.note"),
        (ONE, {"approved": True, "comment": "x"}, "$.comment"),
        (ONE, {"approved": True, "id": "a-2"}, "$.id"),
        ("/api/approvals/A_1", {"approved": True}, "$.id"),
    ],
)
async def test_what_does_not_validate_reaches_nobody(server: Server, path: str, body: Any, field: str):
    reply = await ask(server.port, "POST", path, body)
    assert (reply.status, reply.json["code"]) == (422, "invalid")
    assert [entry["path"] for entry in reply.json["errors"]] == [field]
    assert server.actors.calls == []
