"""A look without a daemon finds what there is at that moment, redacted, and leaves everything as it was."""

import json
import os
import subprocess

import pytest

from hub.cli.local.offline import OfflineProject
from hub.errors import HubError
from hub.io.project.places import Places, load_or_create_key
from tests.hub.cli.command import environ, hub
from tests.hub.io.agents import new_session, register, running, transcript

SESSION, OTHER = new_session(), new_session()
SECRET = "ghp_" + "Ab3dEf6hIj" * 3 + "123456"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project in which one session was written."""
    root = tmp_path / "repo"
    (tmp_path / "home").mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in [name for name in os.environ if name.startswith(("HUB_", "XDG_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    for name, place in (("HOME", "home"), ("HUB_STATE_DIR", "state"), ("HUB_CONFIG_DIR", ".")):
        monkeypatch.setenv(name, str(tmp_path / place))
    transcript(tmp_path / "home" / ".claude", SESSION, root, "Write a.py")
    return root


def found(root):
    """What is there; other tests may run agents beside."""
    return [
        one for one in OfflineProject(Places(root)).detected(24) if one.work_dir.startswith(str(root.parent))
    ]


def grown(root, _):
    log = next(root.parent.glob("home/.claude/projects/*/*.jsonl"))
    with log.open("a") as file:
        file.write(
            json.dumps({"type": "user", "uuid": "u-9", "message": {"role": "user", "content": "more"}}) + "\n"
        )


def task(root, _):
    folder = root.parent / "home" / ".claude" / "tasks" / SESSION
    folder.mkdir(parents=True)
    (folder / "1.json").write_text('{"id": "1", "subject": "Test it", "status": "pending"}')


def account(root, _):
    (root.parent / "config.toml").write_text(
        f'[[providers.claude.accounts]]\nlabel = "mine"\nconfigDir = "{root.parent}/home/.claude"\n'
    )


def moved(root, monkeypatch):
    transcript(root.parent / "elsewhere", OTHER, root, "Write c.py")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root.parent / "elsewhere"))


CHANGES = {
    "a session grows": grown,
    "a session is new": lambda root, _: transcript(
        root.parent / "home" / ".claude", OTHER, root, "Write c.py"
    ),
    "a session is gone": lambda root, _: next(root.parent.glob("home/.claude/projects/*/*.jsonl")).unlink(),
    "a task beside a session": task,
    "settings": account,
    "the variable of a store": moved,
    "the folder is a repository no more": lambda root, _: (root / ".git").rename(root / "git"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_new_is_seen(root, monkeypatch, change):
    before = found(root)
    assert [(one.id, one.adoptable) for one in before] == [(f"claude:{SESSION}", True)]
    CHANGES[change](root, monkeypatch)
    assert found(root) != before


def test_an_agent_that_starts_and_one_that_ends_are_seen(root, tmp_path):
    before = found(root)
    with running(tmp_path, cwd=root) as pid:
        register(tmp_path / "home" / ".claude", pid, SESSION)
        (one,) = found(root)
        assert (one.pid, one.confidence, one.session.session_id) == (pid, "exact", SESSION)
    assert found(root) == before


def test_what_a_session_says_is_redacted_and_its_store_is_left_as_it_was(root, tmp_path):
    transcript(tmp_path / "home" / ".claude", OTHER, root, f"Use {SECRET}.")
    before = sorted((str(path), path.stat().st_mtime_ns) for path in (tmp_path / "home").rglob("*"))
    assert SECRET not in repr(found(root))
    assert sorted((str(path), path.stat().st_mtime_ns) for path in (tmp_path / "home").rglob("*")) == before
    assert not (tmp_path / "state").exists(), "nothing of a look is kept"


def test_a_key_that_others_may_read_ends_it(root, tmp_path):
    load_or_create_key("redaction")
    (tmp_path / "state" / "keys" / "redaction.key").chmod(0o644)
    with pytest.raises(HubError):
        found(root)


def test_without_a_project_it_looks_as_well(tmp_path):
    done = hub(
        "detect", "--json", "--since-hours", "0", cwd=tmp_path, env=environ(tmp_path, HOME=str(tmp_path))
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_outside_of_all_projects_the_users_own_accounts_are_looked_into(root):
    """They were known to `hub usage` and `hub quota` there, and not to this."""
    elsewhere = root.parent / "elsewhere"
    transcript(elsewhere, OTHER, root, "Write c.py")
    (root.parent / "config.toml").write_text(
        f'[[providers.claude.accounts]]\nlabel = "mine"\nconfigDir = "{elsewhere}"\n'
    )
    there = [
        one for one in OfflineProject(Places(root.parent)).detected(24) if one.work_dir.startswith(str(root))
    ]
    assert "mine" in {one.account for one in there}


@pytest.mark.parametrize("command", [("detect",), ("trust",), ("usage",), ("config", "list")])
def test_what_only_reads_needs_no_key_and_makes_none(root, command):
    """Each made the key of the redaction, and failed where the home cannot be written."""
    done = hub(*command, "--json", cwd=root, env=environ(root.parent, HOME=str(root.parent / "home")))
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert not (root.parent / "state" / "keys").exists()
