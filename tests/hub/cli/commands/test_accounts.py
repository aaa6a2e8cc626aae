"""`hub providers`, `install`, `account` and `key`: with a daemon and without one, and no key is ever seen."""

import json
import stat
from pathlib import Path

import pytest

from hub.io.files.seal import closed
from hub.io.files.sealed import name_of
from hub.io.project.places import load_or_create_key
from hub.io.secrets.dotenv import read_env
from tests.hub.cli.command import environ, hub, typed

SECRET = "sk-ant-api03-wonderful"
LOGS_IN = """#!/bin/sh
[ "$1" = --version ] && { echo "2.0.0 (Claude Code)"; exit; }
echo "$* in $CLAUDE_CONFIG_DIR$HUB_STATE_DIR"
[ -n "$REFUSES" ] && exit 1
echo '{"claudeAiOauth": {"accessToken": "wonderful", "refreshToken": "x"}}' > "$CLAUDE_CONFIG_DIR/.credentials.json"
"""


@pytest.fixture
def env(repo):
    """A home and a PATH of its own: no agent is installed."""
    (repo.parent / "home").mkdir()
    (repo.parent / "bin").mkdir()
    plain = environ(repo.parent, HOME=str(repo.parent / "home"), PATH=f"{repo.parent}/bin:/usr/bin:/bin")
    return {name: value for name, value in plain.items() if not name.endswith("_API_KEY")}


def program(repo, name, text):
    path = repo.parent / "bin" / name
    path.write_text(text)
    path.chmod(0o755)


def told(*args, repo, env):
    done = hub(*args, "--json", cwd=repo, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rows(repo, env, name="claude"):
    listed = told("account", "list", repo=repo, env=env)
    return [(row["label"], row["active"], row["loggedIn"]) for row in listed if row["provider"] == name]


def test_a_login_is_added_made_switched_to_and_forgotten_without_a_daemon(repo, env):
    program(repo, "claude", LOGS_IN)
    made = told("account", "add", "claude", "work", repo=repo, env=env)
    assert rows(repo, env) == [("default", True, False), ("work", False, False)]
    login = hub("account", "login", "claude", "work", cwd=repo, env=env)
    assert login.returncode == 0, login.stderr
    assert f"$ CLAUDE_CONFIG_DIR={made['configDir']} {repo.parent}/bin/claude auth login" in login.stderr
    assert login.stdout == f"auth login in {made['configDir']}\nclaude is logged in as work\n"
    told("account", "switch", "claude", "work", repo=repo, env=env)
    assert rows(repo, env) == [("work", True, True), ("default", False, False)]
    gone = hub("account", "remove", "claude", "work", cwd=repo, env=env)
    assert gone.stdout == f"claude no longer has work; its directory stays: {made['configDir']}\n"
    assert rows(repo, env) == [("default", True, False)]
    assert Path(made["configDir"], ".credentials.json").exists()


def test_a_list_of_accounts_asks_no_program_for_its_version(repo, env):
    """Some take seconds to tell it, and nothing of it is shown."""
    program(repo, "claude", f"#!/bin/sh\ntouch {repo.parent}/asked\n")
    assert rows(repo, env) == [("default", True, False)]
    assert not (repo.parent / "asked").exists()


def test_a_login_that_comes_to_nothing_is_an_error_of_its_own(repo, env):
    program(repo, "claude", LOGS_IN)
    done = hub("account", "login", "claude", "--json", cwd=repo, env={**env, "REFUSES": "1"})
    assert done.returncode == 4
    assert json.loads(done.stdout)["error"]["code"] == "auth_needed"
    missing = hub("account", "login", "codex", cwd=repo, env=env)
    assert (missing.returncode, "npm install -g @openai/codex" in missing.stderr) == (1, True)


def test_what_is_not_there_is_told(repo, env):
    for args in (
        ("switch", "claude", "x"),
        ("remove", "claude", "x"),
        ("login", "nobody"),
        ("add", "nobody", "x"),
    ):
        done = hub("account", *args, cwd=repo, env=env)
        assert done.returncode == 3, done.stderr
    double = hub("account", "add", "claude", "default", "--json", cwd=repo, env=env)
    assert (double.returncode, json.loads(double.stdout)["error"]["code"]) == (2, "invalid")


def test_a_key_comes_from_stdin_and_is_not_shown(repo, env):
    done = hub("key", "set", "claude", "--json", cwd=repo, env=env, given=f"{SECRET}\n")
    assert json.loads(done.stdout) == {
        "ok": True,
        "provider": "claude",
        "name": "ANTHROPIC_API_KEY",
        "set": True,
    }
    assert SECRET not in done.stdout + done.stderr
    path = repo / ".hub" / ".env"
    assert read_env(path, ["ANTHROPIC_API_KEY"]) == {"ANTHROPIC_API_KEY": SECRET}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    told("key", "remove", "ANTHROPIC_API_KEY", repo=repo, env=env)
    assert read_env(path, ["ANTHROPIC_API_KEY"]) == {}


def test_whose_a_key_is_is_listed(repo, env):
    """`hub key set claude` made other agents spend that key; where keys are listed it is said whose each is."""
    assert told("key", "list", repo=repo, env=env) == []

    def put(name):
        return hub("key", "set", name, cwd=repo, env=env, given=SECRET).stdout.strip()

    assert put("claude") == "ANTHROPIC_API_KEY is kept in .hub/.env for claude alone; its next run has it"
    assert put("opencode.ANTHROPIC_API_KEY").startswith(
        "ANTHROPIC_API_KEY is kept in .hub/.env for opencode alone"
    )
    assert told("key", "list", repo=repo, env=env) == [
        {"provider": "claude", "name": "ANTHROPIC_API_KEY"},
        {"provider": "opencode", "name": "ANTHROPIC_API_KEY"},
    ]
    text = hub("key", "list", cwd=repo, env=env).stdout
    assert "Each key is its agent's alone." in text
    assert SECRET not in text
    told("key", "remove", "claude", repo=repo, env=env)
    assert told("key", "list", repo=repo, env=env) == [{"provider": "opencode", "name": "ANTHROPIC_API_KEY"}]


def test_who_is_used_up_is_shown_without_a_daemon_too(repo, env):
    (repo / ".hub").mkdir(mode=0o700, exist_ok=True)
    open_until = {"state": "open", "failures": 1, "opened_at": 1.0, "until": 4_000_000_000.0, "limited": True}
    body = [{"provider": "claude", "account": "default", **open_until}]
    path = repo / ".hub" / "breakers.json"
    key = load_or_create_key("seal", Path(env["HUB_STATE_DIR"]))
    path.write_bytes(closed(key, name_of(path), json.dumps(body).encode()))
    program(repo, "claude", LOGS_IN)
    lines = {line.split()[0]: line for line in hub("providers", cwd=repo, env=env).stdout.splitlines()}
    assert "its usage limit is reached, until 2096-10-02 07:06:40 UTC" in lines["claude"]


def test_a_key_typed_at_a_terminal_is_not_echoed(repo, env):
    """What is on the screen stays in its scrollback."""
    status, shown = typed("key", "set", "claude", answer=SECRET, cwd=repo, env=env, asks="Key for claude")
    assert (status, "is kept" in shown, SECRET in shown) == (0, True, False)


@pytest.mark.parametrize(("name", "status"), [("claude", 2), ("nobody", 2)])
def test_no_key_and_a_key_of_nobody_are_refused(repo, env, name, status):
    assert hub("key", "set", name, cwd=repo, env=env).returncode == status
    assert not (repo / ".hub" / ".env").exists()


@pytest.mark.parametrize("value", ["sk-\u00e9", "sk-1\nsk-2", "x" * 16_385])
def test_a_key_that_a_daemon_refuses_is_refused_without_one(repo, env, value):
    """It was kept: only what comes over the API was held to what a key may be."""
    done = hub("key", "set", "claude", "--json", cwd=repo, env=env, given=value)
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (2, "invalid")
    assert not (repo / ".hub" / ".env").exists()


def test_what_there_is_and_the_next_step(repo, env):
    program(repo, "claude", LOGS_IN)
    entries = {entry["name"]: entry for entry in told("providers", repo=repo, env=env)}
    assert entries["claude"]["install"]["version"] == "2.0.0 (Claude Code)"
    assert entries["codex"]["install"]["installed"] is False
    text = hub("providers", cwd=repo, env=env).stdout
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert "no login seen" in lines["claude"]
    assert "hub account login claude" in lines["claude"]
    assert "hub install codex" in lines["codex"]
    assert lines["demo-first"].split()[1] == "off"
    assert text.splitlines()[0].split() == ["AGENT", "STATE", "VERSION", "ACCOUNT", "NEXT"]
    listed = hub("account", "list", cwd=repo, env=env).stdout.splitlines()
    assert [line.split()[0] for line in listed[:2]] == ["AGENT", "claude"]
    assert listed[1].split() == ["claude", "default", "yes", "not", "seen", "the", "agent's", "own"]


def test_an_install_runs_the_makers_command_here(repo, env):
    program(
        repo,
        "npm",
        f'#!/bin/sh\necho "$*"\nprintf "#!/bin/sh\\necho 1\\n" > {repo.parent}/bin/codex\nchmod 700 {repo.parent}/bin/codex\n',
    )
    done = hub("install", "codex", "--json", cwd=repo, env=env)
    assert json.loads(done.stdout) == {"ok": True, "provider": "codex", "path": f"{repo.parent}/bin/codex"}
    assert "$ npm install -g @openai/codex" in done.stderr
    program(repo, "npm", "#!/bin/sh\nexit 9\n")
    failed = hub("install", "gemini", cwd=repo, env=env)
    assert (failed.returncode, "status 9" in failed.stderr) == (1, True)
    assert hub("install", "demo-first", cwd=repo, env=env).returncode == 2


def test_with_a_daemon_it_is_the_daemon_that_writes(work):
    """One writer: what the command does is in the daemon's log."""
    work.configure("[providers.demo-first]\nenabled = true\n")
    work.start(HOME=str(work.root.parent))
    env = {**work.environ(), "HOME": str(work.root.parent)}
    assert hub("account", "add", "demo-first", "b", cwd=work.root, env=env).returncode == 0
    assert hub("account", "switch", "demo-first", "b", cwd=work.root, env=env).returncode == 0
    assert [row[:2] for row in rows(work.root, env, "demo-first")] == [("b", True), ("default", False)]
    messages = [event["msg"] for event in work.events()]
    assert any(text.startswith("the account b of demo-first was added in ") for text in messages)
    assert "the next session or handoff of demo-first uses its account b" in messages
