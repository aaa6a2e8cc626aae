"""The real programs of other people: each is told of the tools by `hub mcp install`, connects, and calls one.

What the agent's model is told is read from the requests it makes: the tool's answer is in the next one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from hub.mcp.tools import TOOLS
from tests.agents import PROGRAMS, base_env, program_path
from tests.faults.harness import project
from tests.hub.cli.command import ROOT
from tests.model_server import ModelServer, Turn
from tests.model_server.wire import Seen
from tests.waiting import ended

pytestmark = pytest.mark.agents
PATIENCE = 120.0
TASK = "What does the session do?"
CLIENTS = ("claude", "codex", "gemini", "opencode", "qwen")
ASK = "hub_status"
IDLE = re.compile(r"sessionState\W+idle")
"""What `hub_status` tells of a daemon that has nothing to do."""
each_client = pytest.mark.parametrize("name", CLIENTS)


@pytest.fixture
def models():
    with ModelServer() as server:
        yield server


@pytest.fixture
def work(tmp_path):
    """A project with a daemon that has nothing to do."""
    with project(tmp_path) as made:
        made.configure()
        made.start()
        yield made


@pytest.fixture
def env(name, work, models, tmp_path):
    """A home of its own; `hub` and the client's program on PATH, and nothing of the developer's."""
    home, programs = tmp_path / "home", tmp_path / "programs"
    home.mkdir()
    programs.mkdir()
    (programs / name).symlink_to(program_path(name))
    settings = "".join(f"{key}={value}\n" for key, value in work.environ().items() if key.startswith("HUB_"))
    # Clients give the server few variables of their own; what the test needs is in the command.
    (programs / "hub").write_text(
        f'#!/bin/sh\necho $$ >>"{programs}/started"\nexport PYTHONPATH="{ROOT}"\n'
        + "".join(f"export {line}\n" for line in settings.splitlines())
        + f'exec "{sys.executable}" -m hub "$@"\n'
    )
    (programs / "hub").chmod(0o755)
    base = base_env(home)
    return {**base, **models.proxy_env(), **PROGRAMS[name].env, "PATH": f"{programs}:{base['PATH']}"}


def run(env, where: Path, *argv: str, **options):
    done = subprocess.run(
        argv,
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == options.get("status", 0), done.stderr + done.stdout
    return done.stdout + done.stderr


TRUSTED = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}
"""Gemini CLI starts servers in folders only that its user trusts; and need not start itself twice."""
LISTS = {"codex": ("mcp", "get", "hub")}
"""Codex's `mcp list` does not connect; the task below shows that it does."""


@each_client
def test_it_is_told_and_connects(name, env, work):
    """Twice is as good as once, and what was told can be taken back."""
    for _ in range(2):
        run(env, work.root, "hub", "mcp", "install", name)
    told = run({**env, **TRUSTED}, work.root, name, *LISTS.get(name, ("mcp", "list")))
    assert "hub" in told
    if name not in LISTS:
        assert "onnected" in told
        assert "isconnected" not in told
    for _ in range(2):
        run(env, work.root, "hub", "mcp", "uninstall", name)
    printed = json.loads(run(env, work.root, "hub", "mcp", "install", name, "--print", "--json"))
    assert "hub" not in Path(printed["file"]).read_text().replace("schema", "")


def offered(body) -> list[str]:
    """Every name in a request, those of the tools among them."""
    if isinstance(body, dict):
        names = [body["name"]] if isinstance(body.get("name"), str) else []
        return names + [name for value in body.values() for name in offered(value)]
    return [name for value in body for name in offered(value)] if isinstance(body, list) else []


def called(name: str) -> Callable[[Seen], Turn]:
    """A call of a tool once it is offered: some clients begin before their servers have."""

    def turn(seen: Seen) -> Turn:
        waits = attrs.evolve(Turn.shell("sleep 2 # intentional-sleep"), repeat=None)
        return Turn.tool("native", name, {}) if name in offered(seen.body) else waits

    return turn


SCRIPTS = {
    "claude": [called("mcp__hub__hub_status")],
    "codex": [Turn.tool("native", "tool_search", {"query": "hub", "limit": 20}), called("hub_status")],
    "gemini": [called("mcp_hub_hub_status")],
    "opencode": [called("hub_hub_status")],
    "qwen": [
        Turn.tool("native", "tool_search", {"query": "hub", "max_results": 20}),
        Turn.tool("native", "tool_call", {"name": "mcp__hub__hub_status", "arguments": {}}),
    ],
}
"""What each client's model does. Codex and Qwen Code keep the tools of servers back until they are searched for."""
KEY_CHOSEN = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
"""How Gemini CLI remembers that its user chose to log in by a key."""


def headless(name: str, models: ModelServer) -> tuple[list[str], dict[str, str]]:
    """How each does one task without a terminal, allowed to call tools: arguments and environment."""
    agent = PROGRAMS[name]
    model, url, key = agent.model, getattr(models, agent.url), {agent.key: "key"}
    vendor, _, short = model.partition("/")
    served = {"options": {"baseURL": url}, "models": {short: {}}}
    config = {"model": model, "provider": {vendor: served}, "permission": "allow", "autoupdate": False}
    # `required`: wait for the server before the first turn.
    codex = f'model_providers.test={{name="test",base_url="{url}",env_key="{agent.key}"}}'
    codex_settings = [codex, 'model_provider="test"', "mcp_servers.hub.required=true"]
    return {
        "claude": (
            ["-p", TASK, "--model", model, "--allowedTools", "mcp__hub"],
            {**key, "ANTHROPIC_BASE_URL": url, "ENABLE_TOOL_SEARCH": "false"},
        ),
        "codex": (["exec", *(word for line in codex_settings for word in ("-c", line)), "-m", model, TASK], key),
        "gemini": (
            ["-p", TASK, "-m", model, "--approval-mode", "yolo"],
            {**key, "GOOGLE_GEMINI_BASE_URL": url, **TRUSTED},
        ),
        "opencode": (["run", TASK], {**key, "OPENCODE_CONFIG_CONTENT": json.dumps(config)}),
        "qwen": (
            ["-p", TASK, "-m", model, "--auth-type", "openai", "--approval-mode", "yolo"],
            {**key, "OPENAI_BASE_URL": url},
        ),
    }[name]  # fmt: skip


@each_client
def test_an_agent_calls_a_tool(name, env, work, models):
    """Its model is told of every tool, gets the daemon's answer, and no server outlives the client."""
    if name == "gemini":
        (Path(env["HOME"]) / ".gemini").mkdir()
        (Path(env["HOME"]) / ".gemini" / "settings.json").write_text(json.dumps(KEY_CHOSEN))
    run(env, work.root, "hub", "mcp", "install", name)
    models.script("key", *SCRIPTS[name], Turn.text("All done."))
    arguments, more = headless(name, models)
    assert "All done." in run({**env, **more}, work.root, name, *arguments)
    told = models.mains("key")[-1].text
    assert [tool.name for tool in TOOLS if tool.description[:60] not in told] == []
    assert IDLE.search(told)
    assert all(
        ended(int(pid)) for pid in (Path(env["HOME"]).parent / "programs" / "started").read_text().split()
    )
