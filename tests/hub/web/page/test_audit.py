"""How many secrets were hidden, and in which session."""

from tests.hub.web.fake import Server
from tests.hub.web.page.test_mount import HTML
from tests.hub.web.wire import ask


async def test_what_was_hidden_is_told_with_its_session(server: Server):
    """Each session is asked by itself, so not with every event: the page keeps what it had."""
    whole = await ask(server.port, "GET", "/audit", headers=HTML)
    brief = await ask(server.port, "GET", "/audit", headers=[*HTML, ("Hub-Briefly", "1")])
    hidden = whole.body.decode().partition('id="hidden"')[2].partition("</section>")[0]
    assert 'href="/session/s-1"' in hidden
    assert "aws 1" in hidden
    assert b'id="hidden"' not in brief.body
    assert b'id="records"' in brief.body
