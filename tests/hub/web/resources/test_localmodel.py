"""What is no order of local models, over HTTP; from the list to the launch: `tests/hub/actors/models`."""

from tests.hub.actors.daemon import daemon_of
from tests.ollama import serving
from tests.refusals import refusal


async def test_what_is_no_order_is_refused_before_anybody_is_asked(made, monkeypatch):
    """A command never comes from a request: not as a tag, a model, a tool or a server."""
    made.configure()
    async with serving() as ollama, daemon_of(made, monkeypatch) as live:
        for path, body in [
            ("pull", {"baseUrl": ollama.url, "tag": "-rf /"}),
            ("pull", {"baseUrl": "file:///etc/passwd", "tag": "llava"}),
            ("launch", {"provider": "claude", "model": "--help"}),
            ("launch", {"provider": "gemini", "model": "llava"}),
            ("launch", {"provider": "nobody", "model": "llava"}),
        ]:
            error = await refusal(live.post(f"/api/localmodel/{path}", body))
            assert error.status in (404, 422), (body, error)
        assert ollama.asked == []
