"""Local models over a whole daemon, against a server that speaks Ollama's real format on loopback."""

import base64

import pytest
import trio

from hub.actors.models.actor import TOOLS
from hub.errors import Code
from hub.messages.models import CancelPull, LaunchModel, ListModels, LookAtImage, PullModel
from hub.messages.settings import PatchVision, SetKey
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.hub.domain.models.test_image import PNG
from tests.ollama import Ollama, pull_lines, serving
from tests.refusals import refusal

SECRET = "sk-wonderful-key-of-mine-1234567890"


@pytest.fixture
def made(tmp_path, monkeypatch):
    for name in ("TERMINAL", "TMUX", "DISPLAY", "WAYLAND_DISPLAY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    with project(tmp_path) as found:
        found.configure()
        yield found


async def test_what_is_installed_and_what_may_be_pulled(made, monkeypatch):
    async with serving() as ollama, daemon_of(made, monkeypatch) as live:
        found = await live.ask("models", ListModels(ollama.url + "/"))
        assert (found.base_url, found.reachable) == (ollama.url, True)
        assert [(m.name, m.vision, m.parameters) for m in found.models] == [
            ("llava:latest", True, "7B"),
            ("qwen3-coder:30b", False, "30.5B"),
        ]
        assert found.curated


@pytest.mark.parametrize("tags", [{"models": 5}, [], {"models": [{"details": 1, "size": "x"}, 7]}])
async def test_a_server_that_is_no_ollama_is_told_as_such(made, monkeypatch, tags):
    async with serving(Ollama(tags=tags)) as ollama, daemon_of(made, monkeypatch) as live:
        found = await live.ask("models", ListModels(ollama.url))
        assert found.reachable == (isinstance(tags, dict) and isinstance(tags["models"], list))
        assert found.curated


async def test_a_pull_tells_its_progress_in_the_event_log(made, monkeypatch):
    async with serving() as ollama, daemon_of(made, monkeypatch) as live:
        begun = await live.ask("models", PullModel(ollama.url, "llava:7b"))
        await live.until_event("llava:7b is pulled")
        told = [r for r in await live.events() if r.meta.get("jobId") == begun.job]
        assert [r.msg for r in told if "%" in r.msg] == [
            f"pulling llava:7b: {part} % of 0.0 GB" for part in range(0, 101, 10)
        ]
        assert {r.tag for r in told} == {"system"}
        assert ollama.asked[-1][3] == {"model": "llava:7b", "stream": True}


async def test_a_pull_is_one_and_can_be_cancelled(made, monkeypatch):
    async with serving(Ollama(hold_after=5)) as ollama, daemon_of(made, monkeypatch) as live:
        await live.ask("models", PullModel(ollama.url, "llava"))
        with trio.fail_after(20):
            await ollama.held.wait()
        await refusal(live.ask("models", PullModel(ollama.url, "llava")), Code.JOB_RUNNING)
        assert (await live.ask("models", CancelPull(ollama.url, "llava"))).tag == "llava"
        with trio.fail_after(20):
            await ollama.dropped.wait()
        await live.until_event("pulling llava was cut off")
        await refusal(live.ask("models", CancelPull(ollama.url, "llava")), Code.NOT_FOUND)
        ollama.hold_after = -1
        await live.ask("models", PullModel(ollama.url, "llava"))
        await live.until_event("llava is pulled")


async def test_a_pull_that_is_cancelled_while_it_begins_is_told_so(made, monkeypatch):
    """Was a 500: found by requests at the same time."""
    async with daemon_of(made, monkeypatch) as live:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(refusal, live.ask("models", PullModel(url, "llava")), Code.INTERRUPTED)
            async with await listener.accept():
                await live.ask("models", CancelPull(url, "llava"))
        await listener.aclose()


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (
            Ollama(pull=[{"status": "pulling manifest"}, {"error": "file does not exist"}]),
            "file does not exist",
        ),
        (Ollama(cut_after=3), "broke off"),
        (Ollama(pull=pull_lines()[:-1]), "ended the pull without a word"),
    ],
)
async def test_a_pull_that_fails_says_why(made, monkeypatch, server, words):
    async with serving(server) as ollama, daemon_of(made, monkeypatch) as live:
        await live.ask("models", PullModel(ollama.url, "llava"))
        found = await live.until_event(words)
        assert (found.tag, found.msg.startswith("pulling llava failed")) == ("error", True)


async def test_nobody_there_is_said_at_once(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        await refusal(live.ask("models", PullModel("http://127.0.0.1:1", "llava")), Code.UPSTREAM_FAILED)
        assert not (await live.ask("models", ListModels("http://127.0.0.1:1"))).reachable


async def test_an_agent_is_launched_on_a_local_model(made, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    async with daemon_of(made, monkeypatch) as live:
        error = await refusal(live.ask("models", LaunchModel("gemini", "m")), Code.INVALID)
        assert ", ".join(TOOLS) in error.hint
        await refusal(live.ask("models", LaunchModel("claude", "m")), Code.PROGRAM_MISSING)
        (tmp_path / "bin/ollama").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/ran\n')
        (tmp_path / "bin/ollama").chmod(0o700)
        error = await refusal(live.ask("models", LaunchModel("claude", "qwen3-coder:30b")), Code.NO_TERMINAL)
        assert error.extra["command"] == f"{tmp_path}/bin/ollama launch claude --model qwen3-coder:30b"
        (tmp_path / "term").write_text('#!/bin/sh\n"$@" < /dev/null > /dev/null 2>&1\n')
        (tmp_path / "term").chmod(0o700)
        made.configure(f'[terminal]\ncommand = ["{tmp_path}/term"]\n')
        begun = await live.ask("models", LaunchModel("codex", "qwen3-coder:30b"))
        await live.until_event("running codex on qwen3-coder:30b has ended with status 0")
        assert begun.terminal == "term"
        assert (tmp_path / "ran").read_text() == "launch codex --model qwen3-coder:30b\n"


async def test_a_look_at_an_image(made, monkeypatch):
    """The request is the OpenAI-compatible one, with the named provider's key; nobody hears of the key."""
    image = base64.b64encode(PNG).decode()
    async with serving(
        Ollama(says=[{"type": "text", "text": "a "}, {"type": "text", "text": "dot"}])
    ) as ollama:
        made.configure(
            f'[vision]\nenabled = true\nmodel = "v"\nprovider = "codex"\nbaseUrl = "{ollama.url}"\n'
        )
        async with daemon_of(made, monkeypatch) as live:
            await live.ask("settings", SetKey("codex", SECRET))
            found = await live.ask("models", LookAtImage("what is it?", f"data:image/png;base64,{image}", ""))
            assert {k: getattr(found, k) for k in ("text", "model", "width", "height")} == {
                "text": "a dot", "model": "v", "width": 1, "height": 1,
            }  # fmt: skip
            assert found.latency_ms >= 0
            method, target, headers, body = ollama.asked[-1]
            assert (method, target) == ("POST", "/v1/chat/completions")
            assert headers["authorization"] == f"Bearer {SECRET}"
            assert body["messages"][0]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{image}"
            ollama.refuse = (401, {"error": {"message": f"bad key {SECRET}"}})
            error = await refusal(live.ask("models", LookAtImage("x", image, "")), Code.UPSTREAM_FAILED)
            assert "answered 401: bad key" in error.detail
            ollama.refuse, ollama.says = None, ""
            await refusal(live.ask("models", LookAtImage("x", image, "")), Code.UPSTREAM_FAILED)


async def test_what_cannot_be_looked_at_is_refused(made, monkeypatch):
    image = base64.b64encode(PNG).decode()
    async with serving() as ollama, daemon_of(made, monkeypatch) as live:
        await refusal(live.ask("models", LookAtImage("x", image, "")), Code.VISION_OFF)
        await live.ask(
            "settings", PatchVision({"enabled": True, "model": "v", "baseUrl": ollama.url, "maxPixels": 1})
        )
        await live.ask("models", LookAtImage("x", image, ""))
        for bad in ("!!", "aGVsbG8=", base64.b64encode(PNG[:19] + b"\2" + PNG[20:]).decode()):
            error = await refusal(live.ask("models", LookAtImage("x", bad, "")), Code.INVALID)
            assert error.extra["errors"][0]["path"] == "$.image"
        await refusal(live.ask("models", LookAtImage("x", "", "http://example.com/")), Code.INVALID)
