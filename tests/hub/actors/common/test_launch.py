"""What an agent is started with, as the kernel tells it of the real process: environment, descriptors, arguments."""

import json
import os
import sys
from pathlib import Path

import attrs
import pytest

from hub.actors.common.launch import agent_launch
from hub.domain.accounts.account import Account
from hub.domain.config.model import ApprovalRule
from hub.domain.config.reader import Config
from hub.errors import Code
from hub.io.project.places import load_or_create_key
from hub.messages.session import StartRun
from hub.providers.demo.agent import FIRST
from hub.providers.registry import load, load_all
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.hub.providers.captured import ASSIGNMENT
from tests.refusals import refuses

ALLOWED = {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "SHELL", "USER", "TZ"}
ALLOWED |= {"IS_SANDBOX", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"}
ALLOWED |= {
    name
    for upper in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
    for name in (upper, upper.lower())
}
FOREIGN = {
    "AWS_SECRET_ACCESS_KEY": "aws-secret-value",
    "GITHUB_TOKEN": "github-token-value",
    "SSH_AUTH_SOCK": "/tmp/agent.sock",
    "ANTHROPIC_API_KEY": "another-agents-key",
    "HUB_SIGNING_KEY": "5e" * 32,
    "LD_PRELOAD": "",
    "PYTHONSTARTUP": "/x",
    "CLAUDE_CONFIG_DIR": "/x",
}
PROMPT = "--config=evil -c 'rm' of a task with a name no process list may show"


@pytest.fixture
async def agent(tmp_path, monkeypatch):
    """The live agent's directory in /proc."""
    with project(tmp_path) as made:
        made.script("demo-first", {"say": "ready"}, {"ask": "go on?"})
        made.configure("[providers.demo-first.env]\nMY_SETTING = 'mine'\n")
        async with daemon_of(made, monkeypatch, **FOREIGN, HUB_DEMO_PACE="0") as live:
            await live.ask("sessions", StartRun(PROMPT))
            await live.until_event("ready")
            (run,) = (path for path in (made.hub / "run").iterdir() if (path / "agent.json").exists())
            yield Path("/proc", str(json.loads((run / "agent.json").read_text())["pid"])), made


async def test_the_environment_is_the_allow_list_and_nothing_else(agent):
    """Security row 19: no other provider's key, no cloud's, no loader's, nothing of hub's but the run's id."""
    proc, _ = agent
    environ = dict(item.split("=", 1) for item in (proc / "environ").read_text().split("\0") if item)
    own = {"MY_SETTING", "HUB_RUN_ID", "HUB_DEMO_LOG", "HUB_DEMO_PACE"}
    base = {name for name in os.environ if name in ALLOWED or name.startswith("LC_")}
    assert set(environ) == base | own
    assert environ["MY_SETTING"] == "mine"


async def test_only_the_three_standard_descriptors_are_inherited(agent):
    """Security row 20: no log, no socket, no lifeline."""
    proc, _ = agent
    assert sorted(int(fd.name) for fd in (proc / "fd").iterdir()) == [0, 1, 2]


async def test_no_secret_and_no_prompt_is_in_any_argument(agent):
    """Security rows 21 and 22: of the agent, its runner and the daemon's other children."""
    _, made = agent
    lines = _arguments(made.root.parent)
    assert any(str(made.hub) in line for line in lines)
    for line in lines:
        for secret in ("--config=evil", "5e" * 32, load_or_create_key("audit").hex()):
            assert secret not in line


def _arguments(folder):
    """Of every process that works below the folder."""
    lines = []
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder) in str((cmdline.parent / "cwd").readlink()):
                lines.append(cmdline.read_text("utf-8", "replace"))
        except OSError:
            continue  # it has gone
    return lines


@pytest.mark.parametrize("name", sorted(load_all()))
def test_no_provider_puts_a_prompt_or_a_key_into_argv(tmp_path, name):
    """Security rows 21 and 22 for every agent, a fresh start and a receiver's with its envelope."""
    provider = load_all()[name]
    keys = {key: f"secret-of-{key}" for key in provider.key_names}
    for envelope in ("", "the envelope's own words"):
        assignment = attrs.evolve(
            ASSIGNMENT,
            prompt=PROMPT,
            envelope=envelope,
            envelope_path=tmp_path / "d-1" / "envelope.md" if envelope else None,
            account=Account("a", str(tmp_path / "home"), keys),
        )
        argv = "\0".join(provider.launch(assignment).argv)
        assert "--config=evil" not in argv
        assert "of a task" not in argv
        assert "own words" not in argv
        assert "secret-of" not in argv


def test_the_envelope_is_one_of_the_files_that_the_agent_finds(tmp_path):
    """It is in the run directory before the agent is let go, as all that it is given."""
    brief = attrs.evolve(ASSIGNMENT, envelope="read me", envelope_path=tmp_path / "d-1" / "envelope.md")
    assert agent_launch(FIRST, brief, Config(), {}).files["envelope.md"] == b"read me"
    assert "envelope.md" not in agent_launch(FIRST, ASSIGNMENT, Config(), {}).files


def test_a_program_that_is_not_there_is_a_coded_failure_with_the_install_command():
    with refuses(Code.DISPATCH_FAILED, "/not/there"):
        agent_launch(FIRST, attrs.evolve(ASSIGNMENT, program="/not/there"), Config(), {})


def test_an_agent_whose_own_settings_let_it_act_unasked_is_not_started_under_rules(tmp_path):
    """Its reason is told, and whoever is next takes over; without rules nothing is looked at."""
    codex = load("codex")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "default.rules").write_text('prefix_rule(pattern=["cat"], decision="allow")\n')
    account = Account("a", str(tmp_path))
    program = attrs.evolve(ASSIGNMENT, program=sys.executable, account=account, asks=True)
    ruled = Config(approvals=(ApprovalRule(tool="exec_command"),))
    with refuses(Code.DISPATCH_FAILED, "its own rules"):
        agent_launch(codex, program, ruled, {})
    assert agent_launch(codex, attrs.evolve(program, asks=False), ruled, {}).argv
