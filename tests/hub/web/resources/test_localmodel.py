"""The specification's section on local models, line by line, over HTTP: a whole daemon, and a server that speaks as Ollama.

What is underneath (failures, cancelling, what is no Ollama) is tested in `tests/hub/actors/models`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import trio

from hub.client.quick import Api
from hub.errors import Code
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.ollama import serving
from tests.refusals import refusal


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A project on a machine with an `ollama` that notes how it was run, and no terminal but the one the test names."""
    for name in ("TERMINAL", "TMUX", "DISPLAY", "WAYLAND_DISPLAY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    for name, text in (("bin/ollama", f'echo "$@" > {tmp_path}/ran'), ("term", '"$@" < /dev/null')):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    with project(tmp_path) as found:
        found.configure()
        yield found


async def get(api: Api, path: str, **query: str | int) -> Any:
    return await trio.to_thread.run_sync(partial(api.get, path, query))


async def post(api: Api, path: str, **body: str) -> Any:
    return await trio.to_thread.run_sync(partial(api.post, path, body))


async def test_local_models_from_the_list_to_the_launch(made, monkeypatch, tmp_path):
    """`models?baseUrl`, `pull {baseUrl, tag}` with its progress in the event log, `launch {provider, model}`."""
    async with serving() as ollama, daemon_of(made, monkeypatch) as live:
        api = Api(live.daemon.port)

        found = await get(api, "/api/localmodel/models", baseUrl=ollama.url)
        assert [model["name"] for model in found["models"]] == ["llava:latest", "qwen3-coder:30b"]
        assert all(model["tag"] and model["gigabytes"] > 0 for model in found["curated"])
        assert ollama.asked[-1][:2] == ("GET", "/api/tags")

        begun = await post(api, "/api/localmodel/pull", baseUrl=ollama.url, tag="llava:7b")
        assert begun["ok"] is True
        await live.until_event("llava:7b is pulled")
        events = await get(api, "/api/events", since=0)
        told = [event for event in events if event.get("meta", {}).get("jobId") == begun["job"]]
        assert any("pulling llava:7b: 50 %" in event["msg"] for event in told)
        assert {event["tag"] for event in told} == {"system"}
        assert (ollama.asked[-1][:2], ollama.asked[-1][3]["model"]) == (("POST", "/api/pull"), "llava:7b")

        headless = await refusal(post(api, "/api/localmodel/launch", provider="claude", model="llava:7b"))
        assert (headless.code, headless.status) == (Code.NO_TERMINAL, 409)
        assert headless.extra["command"] == f"{tmp_path}/bin/ollama launch claude --model llava:7b"

        made.configure(f'[terminal]\ncommand = ["{tmp_path}/term"]\n')
        opened = await post(api, "/api/localmodel/launch", provider="codex", model="qwen3-coder:30b")
        assert (opened["ok"], opened["terminal"]) == (True, "term")
        await live.until_event("running codex on qwen3-coder:30b has ended with status 0")
        assert (tmp_path / "ran").read_text() == "launch codex --model qwen3-coder:30b\n"


async def test_what_is_no_order_is_refused_before_anybody_is_asked(made, monkeypatch):
    """A command never comes from a request: not as a tag, a model, a tool or a server."""
    async with serving() as ollama, daemon_of(made, monkeypatch) as live:
        api = Api(live.daemon.port)
        for path, body in [
            ("pull", {"baseUrl": ollama.url, "tag": "-rf /"}),
            ("pull", {"baseUrl": "file:///etc/passwd", "tag": "llava"}),
            ("launch", {"provider": "claude", "model": "--help"}),
            ("launch", {"provider": "gemini", "model": "llava"}),
            ("launch", {"provider": "nobody", "model": "llava"}),
        ]:
            error = await refusal(post(api, f"/api/localmodel/{path}", **body))
            assert error.status in (404, 422), (body, error)
        assert ollama.asked == []
