"""`GET /api/history`: what is asked for reaches the log, and what is not asked for hides no handoff."""

from __future__ import annotations

import pytest

from hub.messages.audit import AuditHistory
from tests.hub.web.fake import Server
from tests.hub.web.wire import ask


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", (1000, None, "", "", True)),
        ("?limit=7", (7, None, "", "", False)),
        ("?cursor=12", (1000, 12, "", "", False)),
        ("?cursor=0&limit=1", (1, 0, "", "", False)),
        ("?event=handoff", (1000, None, "handoff", "", False)),
        (
            "?sessionId=s-00000001-00000002",
            (1000, None, "", "s-00000001-00000002", False),
        ),
    ],
)
async def test_what_is_asked_of_the_log(server: Server, query: str, asked: tuple):
    """Without a word all handoffs come; with one, exactly the page that is meant."""
    assert (await ask(server.port, "GET", f"/api/history{query}")).status == 200
    assert server.actors.calls == [AuditHistory(*asked)]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=10001", "cursor=-1", "cursor=x", "event=a%22b", "event=%0a"]
)
async def test_what_does_not_validate_is_refused(server: Server, query: str):
    assert (await ask(server.port, "GET", f"/api/history?{query}")).status == 422
    assert server.actors.calls == []
