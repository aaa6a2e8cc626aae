"""The routes of detection: what is passed on, and what is refused before anybody is asked."""

from __future__ import annotations

from typing import Any

import pytest

from hub.messages.detector import Adopt, Detect
from tests.hub.web.fake import Server
from tests.hub.web.wire import ask

ADOPT = "/api/detect/adopt"
ORDER = {"id": "claude:n-1", "target": "codex"}


async def test_the_window_is_a_day_unless_another_is_asked_for(server: Server):
    """Specification: `sinceHours`, default window 24 hours."""
    for path in ("/api/detect", "/api/detect?sinceHours=3"):
        assert (await ask(server.port, "GET", path)).status == 200
    assert server.actors.calls == [Detect(24), Detect(3)]


@pytest.mark.parametrize(
    "more",
    [{}, {"start": True, "stop": True}],
)
async def test_an_adoption_is_passed_on(server: Server, more: Any):
    reply = await ask(server.port, "POST", ADOPT, {**ORDER, **more})
    assert (reply.status, reply.json["ok"], reply.json["id"]) == (200, True, "claude:n-1")
    assert server.actors.calls == [Adopt("claude:n-1", "codex", **more)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**ORDER, "start": True, "interactive": True}, "$.interactive"),
        ({"target": "codex"}, "$.id"),
        ({"id": "claude:n-1"}, "$.target"),
        ({**ORDER, "id": "a\nb"}, "$.id"),
        ({**ORDER, "target": "../x"}, "$.target"),
        ({**ORDER, "force": True}, "$.force"),
    ],
)
async def test_what_does_not_validate_is_refused(server: Server, body: Any, field: str):
    """Specification: `start` and `interactive` are mutually exclusive; decisions 9: 422."""
    reply = await ask(server.port, "POST", ADOPT, body)
    assert (reply.status, reply.json["code"], server.actors.calls) == (422, "invalid", [])
    assert field in [problem["path"] for problem in reply.json["errors"]] or field in str(
        reply.json["errors"]
    )
