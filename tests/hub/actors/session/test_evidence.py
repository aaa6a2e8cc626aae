"""Reading a session's log back: whole and in order, but never more of it in memory than a page."""

from __future__ import annotations

import pytest

from hub.actors.session.evidence import Evidence
from hub.domain.session import SessionRecord
from hub.io.sqlite import NewEvent
from hub.messages import EventAppend
from tests.faults.harness import project
from tests.hub.actors.kit import daemon_of

PAGE = 5000


@pytest.fixture
def made(tmp_path):
    with project(tmp_path) as found:
        found.configure()
        yield found


async def test_a_long_log_is_read_in_pages(made, monkeypatch):
    """A session of days has more events than fit in memory; the contract's intent is a fold over them."""
    async with daemon_of(made, monkeypatch) as live:
        meta = {"sessionId": "s-long"}
        for first in range(0, 2 * PAGE + 10, PAGE):
            texts = range(first, min(first + PAGE, 2 * PAGE + 10))
            await live.ask("events", EventAppend([NewEvent("text", str(n), meta, 1) for n in texts]))
        kit, _ = live.daemon.app._session_parts()
        pages = []
        await Evidence(kit).each(SessionRecord(session_id="s-long"), pages.append)
    assert [len(page) for page in pages] == [PAGE, PAGE, 10]
    assert [item.msg for page in pages for item in page] == [str(n) for n in range(2 * PAGE + 10)]
