"""The real agents' accounts: each keeps to the directory it is given, and its login is seen where hub looks for it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hub.domain.accounts.account import Account
from hub.domain.accounts.login import FoundLogin
from hub.io.processes.probe import probe
from hub.io.secrets.agent_keys import find_login
from hub.providers.registry import load
from tests.agents import PROGRAMS, program_path

pytestmark = pytest.mark.agents

CLAUDE = {
    "accessToken": "sk-ant-oat01-wonderful",
    "refreshToken": "sk-ant-ort01-x",
    "expiresAt": 4_102_444_800_000,
    "scopes": ["user:inference", "user:profile"],
}
SECRET = "sk-wonderful-123456"


@pytest.fixture
def agent(request):
    return PROGRAMS[request.param]


def run(name: str, *args: str, env: dict[str, str], account: Path, stdin: str = "") -> str:
    """A command of the real program, pointed at an account's directory as hub points it."""
    place = load(name).account_env(Account("work", str(account)))
    done = subprocess.run(
        [program_path(name), *args],
        env={**env, **place}, input=stdin, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def found(name: str, account: Path) -> list[FoundLogin]:
    """The logins hub sees in an account's directory."""
    provider = load(name)
    env = provider.account_env(Account("work", str(account)))
    logins = [find_login(store, Path(env[store.home])) for store in provider.login_stores]
    return [login for login in logins if login is not None]


@pytest.mark.parametrize("agent", PROGRAMS, indirect=True)
async def test_a_program_tells_its_version(agent, env, monkeypatch):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    told = await probe(str(program_path(agent.name)), load(agent.name).version_args)
    assert told.ok
    assert agent.version in told.version


def test_claude_and_hub_see_the_same_login(env, account_dir):
    assert found("claude", account_dir) == []
    assert json.loads(run("claude", "auth", "status", env=env, account=account_dir))["loggedIn"] is False
    (account_dir / ".credentials.json").write_text(json.dumps({"claudeAiOauth": CLAUDE}))
    told = json.loads(run("claude", "auth", "status", env=env, account=account_dir))
    assert (told["loggedIn"], told["configDirectory"]) == (True, str(account_dir))
    assert found("claude", account_dir) == [FoundLogin("oauth")]


def test_a_key_that_codex_keeps_is_seen_and_not_read_out(env, account_dir, tmp_path):
    """`codex login` itself writes the file."""
    assert "Not logged in" in run("codex", "login", "status", env=env, account=account_dir)
    run("codex", "login", "--with-api-key", env=env, account=account_dir, stdin=SECRET)
    assert "API key configured" in run("codex", "login", "status", env=env, account=account_dir)
    assert found("codex", account_dir) == [FoundLogin("stored_key")]
    assert SECRET not in repr(found("codex", account_dir))
    assert list((tmp_path / "home").iterdir()) == []


def test_opencode_and_hub_see_the_same_logins(env, account_dir):
    kept = {
        "anthropic": {"type": "api", "key": SECRET},
        "openai": {"type": "oauth", "access": "a", "refresh": "r", "expires": 1},
    }
    place = account_dir / "data" / "opencode"
    place.mkdir(parents=True)
    (place / "auth.json").write_text(json.dumps(kept))
    assert "2 credentials" in run("opencode", "auth", "list", env=env, account=account_dir)
    assert found("opencode", account_dir) == [FoundLogin("oauth"), FoundLogin("stored_key")]
