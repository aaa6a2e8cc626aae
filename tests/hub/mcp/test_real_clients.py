"""The real programs of other people: each is told of the tools by `hub mcp install` and connects; two are seen calling one.

What the agent's model is told is read from the requests it makes: the tool's answer is in the next one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hub.mcp.tools import TOOLS
from tests.agents import PROGRAMS, base_env, program_path
from tests.faults.harness import project
from tests.hub.cli.kit import ROOT
from tests.model_server import ModelServer, Turn

pytestmark = pytest.mark.agents
PATIENCE = 120.0
TASK = "What does the session do?"
CLIENTS = ("claude", "codex", "gemini", "opencode", "qwen")
ASK = "hub_status"
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
        f'#!/bin/sh\nexport PYTHONPATH="{ROOT}"\n'
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


LISTS = {"codex": ("mcp", "get", "hub")}
"""Codex's `mcp list` does not connect; the task below shows that it does."""


@each_client
def test_it_is_told_and_connects(name, env, work):
    """Twice is as good as once, and what was told can be taken back."""
    for _ in range(2):
        run(env, work.root, "hub", "mcp", "install", name)
    trusted = {**env, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    told = run(trusted, work.root, name, *LISTS.get(name, ("mcp", "list")))
    assert "hub" in told
    if name not in LISTS:
        assert "onnected" in told
        assert "isconnected" not in told
    for _ in range(2):
        run(env, work.root, "hub", "mcp", "uninstall", name)
    printed = json.loads(run(env, work.root, "hub", "mcp", "install", name, "--print", "--json"))
    assert "hub" not in Path(printed["file"]).read_text().replace("schema", "")


def offered(body) -> list[str]:
    """The names of our tools in a request, as the client calls them."""
    if isinstance(body, dict):
        names = [body["name"]] if isinstance(body.get("name"), str) and "hub_" in body["name"] else []
        return names + [name for value in body.values() for name in offered(value)]
    return [name for value in body for name in offered(value)] if isinstance(body, list) else []


def status_or_wait(seen) -> Turn:
    """A model that calls `hub_status` once it is offered: some clients begin before their servers have."""
    if "sessionState" in json.dumps(seen.body):
        return Turn.text("All done.")
    name = next((name for name in offered(seen.body) if name.endswith(ASK)), "")
    return Turn.tool("native", name, {}) if name else Turn.shell("sleep 3")


def headless(name: str, models: ModelServer) -> tuple[tuple[str, ...], dict[str, str]]:
    """How each does one task without a terminal, allowed to call tools: arguments and environment."""
    agent = PROGRAMS[name]
    model, url, key = agent.model, getattr(models, agent.url), {agent.key: "key"}
    vendor, _, short = model.partition("/")
    served = {"options": {"baseURL": url}, "models": {short: {}}}
    config = {"model": model, "provider": {vendor: served}, "permission": "allow", "autoupdate": False}
    return {
        "claude": (
            ("-p", TASK, "--model", model, "--allowedTools", "mcp__hub"),
            {**key, "ANTHROPIC_BASE_URL": url, "ENABLE_TOOL_SEARCH": "false"},
        ),
        "opencode": (("run", TASK), {**key, "OPENCODE_CONFIG_CONTENT": json.dumps(config)}),
    }[name]  # fmt: skip


@pytest.mark.parametrize("name", ["claude", "opencode"])
def test_an_agent_calls_a_tool(name, env, work, models):
    run(env, work.root, "hub", "mcp", "install", name)
    models.script("key", *[status_or_wait] * 30)
    arguments, more = headless(name, models)
    assert "All done." in run({**env, **more}, work.root, name, *arguments)
    last = models.mains("key")[-1]
    assert "sessionState" in json.dumps(last.body), "the tool's answer came to the model"
    told = {name.rpartition("hub_")[2] for name in offered(last.body)}
    assert told >= {tool.name.removeprefix("hub_") for tool in TOOLS}
