"""A look without a daemon: the same with what was kept of the last one and without, and anew where anything is new."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from hub.cli import looking, main
from hub.domain.config.reader import Config
from hub.errors import HubError
from hub.io import looks, notes, process_raw
from hub.io.places import load_or_create_key
from hub.io.runner import proc
from hub.providers import stores
from hub.providers.registry import load_all
from tests.hub.cli.kit import environ, hub
from tests.hub.io.agents import new_session, register, running, transcript
from tests.waiting import until

SESSION, OTHER = new_session(), new_session()
SECRET = "ghp_" + "Ab3dEf6hIj" * 3 + "123456"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A project with one session, in which every look may be kept, on a machine without other agents."""
    root, home = tmp_path / "repo", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in [name for name in os.environ if name.startswith(("HUB_", "XDG_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    for name, place in (("HOME", home), ("HUB_STATE_DIR", tmp_path / "state"), ("HUB_CONFIG_DIR", tmp_path)):
        monkeypatch.setenv(name, str(place))
    monkeypatch.chdir(root)
    monkeypatch.setattr(notes, "_TICK_NS", 0)
    machine(monkeypatch)
    transcript(home / ".claude", SESSION, root, "Write a.py")
    looking.document(24)  # makes the key
    return home


def machine(monkeypatch, *pids):
    """Only these processes; each has settled, so it opens no more files of its own."""
    for pid in pids:
        until(lambda pid=pid: proc._stat(pid)[0] == b"S", "it sleeps")
    monkeypatch.setattr(process_raw, "pids", lambda: set(map(str, pids)))


def looked():
    """What a look finds, and that the next one, which asks only whether anything is new, shows the same."""
    found = looking.document(24)
    assert main._kept(24) == found
    return json.loads(found)


def test_what_was_kept_is_shown_byte_for_byte(home):
    (found,) = looked()
    assert (found["id"], found["adoptable"]) == (f"claude:{SESSION}", True)
    assert main._kept(23) is None


def grown(home, _):
    log = next(home.glob(".claude/projects/*/*.jsonl"))
    with log.open("a") as file:
        file.write(
            log.read_text().splitlines()[0].replace("u-1", "u-9").replace("Write a.py", "Write b.py") + "\n"
        )


def task(home, _):
    folder = home / ".claude" / "tasks" / SESSION
    folder.mkdir(parents=True)
    (folder / "1.json").write_text('{"id": "1", "subject": "Test it", "status": "pending"}')


def account(home, _):
    (home.parent / "config.toml").write_text(
        f'[[providers.claude.accounts]]\nlabel = "mine"\nconfigDir = "{home}/.claude"\n'
    )


def moved(home, monkeypatch):
    transcript(home / "elsewhere", OTHER, home.parent / "repo", "Write c.py")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))


CHANGES = {
    "a session grows": grown,
    "a session is new": lambda home, _: transcript(home / ".claude", OTHER, home, "Write c.py"),
    "a session is gone": lambda home, _: next(home.glob(".claude/projects/*/*.jsonl")).unlink(),
    "a task beside a session": task,
    "another agent's first session": lambda home, _: (
        (home / ".codex" / "sessions" / "2026" / "01" / "01").mkdir(parents=True),
        (
            home
            / ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-01a1fe0c-897b-7642-9087-e765bd0c6561.jsonl"
        ).write_text(
            '{"type":"session_meta","payload":{"id":"01a1fe0c-897b-7642-9087-e765bd0c6561","cwd":"/x"}}\n'
        ),
    ),
    "settings": account,
    "the variable of a store": moved,
    "the folder is a repository no more": lambda home, _: (home.parent / "repo" / ".git").rename(
        home.parent / "repo" / "git"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_new_is_seen(home, monkeypatch, change):
    before = looked()
    CHANGES[change](home, monkeypatch)
    assert main._kept(24) is None
    if change != "the folder is a repository no more":
        assert looked() != before


def test_an_agent_that_starts_and_one_that_ends_are_seen(home, monkeypatch, tmp_path):
    before = looked()
    with running(tmp_path, cwd=tmp_path / "repo") as pid:
        machine(monkeypatch, pid)
        assert main._kept(24) is None
        (found,) = looked()
        assert (found["pid"], found["confidence"]) == (pid, "none") or found["running"]
        register(home / ".claude", pid, SESSION)
        assert main._kept(24) is None
        (found,) = looked()
        assert (found["pid"], found["confidence"], found["session"]["sessionId"]) == (pid, "exact", SESSION)
    assert main._kept(24) is None
    assert looked() == before


def test_another_agent_with_the_same_number_is_another(home, monkeypatch, tmp_path):
    """A number is given away again: what is known of a process is compared, not its number."""
    with running(tmp_path, cwd=tmp_path / "repo") as pid:
        machine(monkeypatch, pid)
        looked()
        read = process_raw.read
        monkeypatch.setattr(
            process_raw, "read", lambda *given: (*(told := read(*given))[:2], told[2] + 1, *told[3:])
        )
        assert main._kept(24) is None


def test_nothing_is_kept_that_was_not_redacted(home, tmp_path):
    """Neither what a session says, nor a variable's value, nor a process's."""
    log = transcript(home / ".claude", OTHER, tmp_path / "repo", f"Use {SECRET}.")
    past = time.time() - 60
    os.utime(log, (past, past))
    assert SECRET not in json.dumps(looked())
    (kept,) = (tmp_path / "state" / "looks").iterdir()
    assert b"[REDACTED:" in kept.read_bytes()
    assert SECRET.encode() not in kept.read_bytes()


def test_a_session_that_is_being_written_is_not_kept(home, monkeypatch):
    looked()
    monkeypatch.setattr(notes, "_TICK_NS", 3600 * 10**9)
    before = main._kept(24)
    grown(home, monkeypatch)
    looking.document(24)
    assert (before is None, main._kept(24)) == (False, None)


def test_the_store_is_left_as_it_was(home):
    """What hub keeps lies in its own folder alone."""
    before = sorted((str(path), path.stat().st_mtime_ns) for path in home.rglob("*"))
    looked()
    assert sorted((str(path), path.stat().st_mtime_ns) for path in home.rglob("*")) == before


def test_a_look_at_what_has_not_changed_imports_next_to_nothing(tmp_path):
    """And prints what the whole command prints."""
    env = environ(tmp_path, HOME=str(tmp_path / "home"), CLAUDE_CONFIG_DIR=str(tmp_path / "home" / ".claude"))
    del env["HUB_AMBIENT"]  # a setting
    root = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", root], check=True)
    log = transcript(tmp_path / "home" / ".claude", SESSION, root, "Write a.py")
    past = time.time() - 60
    os.utime(log, (past, past))
    code = (
        "import sys\nfrom hub.io import process_raw\nprocess_raw.pids = set\nfrom hub.cli.main import main\n"
        "try:\n    main(['detect', '--json'])\nfinally:\n    print(*sys.modules, file=sys.stderr)\n"
    )

    def look():
        argv = [sys.executable, "-c", code]
        return subprocess.run(argv, cwd=root, env=env, capture_output=True, text=True, check=True)

    first = look()
    os.utime(tmp_path / "state" / "keys" / "redaction.key", (past, past))  # it was made in this very look
    second, third = look(), look()
    assert first.stdout == second.stdout == third.stdout
    assert json.loads(third.stdout)[0]["id"] == f"claude:{SESSION}"
    assert {"json", "re", "enum", "hub.actors"} <= set(second.stderr.split())
    # Each of these takes as long as reading some sessions, and the first as long as the bare interpreter.
    assert not {"attr", "msgspec", "pathlib", "urllib", "datetime", "click"} & set(second.stderr.split())
    assert not {"json", "re", "enum", "hub.actors"} & set(third.stderr.split())


def test_without_a_project_it_looks_anew(tmp_path):
    env = environ(tmp_path, HOME=str(tmp_path))
    assert hub("detect", "--json", "--since-hours", "0", cwd=tmp_path, env=env).returncode == 0
    assert not (tmp_path / "state" / "looks").exists()


def test_where_nobody_has_set_anything_there_is_what_the_settings_would_say(home):
    """The settings are not even imported then."""
    root, agents, nothing = looking._project(str(home.parent / "repo"))
    assert not isinstance(nothing, Config)
    names = [*load_all(), "none"]
    assert [nothing.accounts(name) for name in names] == [Config().accounts(name) for name in names]
    assert (list(agents), root) == (list(load_all()), str(home.parent / "repo"))
    (home.parent / "repo" / "hub.toml").touch()
    assert looking._project(root)[2] == Config()


@pytest.mark.parametrize("change", ["open", "shared", "long", "odd", "link", "gone"])
def test_a_key_that_is_not_as_hub_has_put_it_is_left_to_whoever_may_refuse_it(home, change):
    """It is read in one way more than elsewhere, for a look that imports next to nothing; the guards are the same."""
    key = home.parent / "state" / "keys" / "redaction.key"
    assert looking._key() == load_or_create_key("redaction") == bytes.fromhex(key.read_text())
    if change == "open":
        key.chmod(0o644)
    elif change == "shared":
        key.parent.chmod(0o755)
    elif change == "long":
        key.write_text(key.read_text() * 2)
    elif change == "odd":
        key.write_text("g" * 64 + "\n")
    elif change == "link":
        key.rename(key.with_name("other"))
        key.symlink_to("other")
    else:
        key.unlink()
    if change in ("shared", "gone"):
        assert looking._key() == load_or_create_key("redaction")
        assert key.parent.stat().st_mode & 0o777 == 0o700
    else:
        with pytest.raises(HubError):
            looking._key()


def test_a_session_that_is_as_it_was_is_not_read_again(home, monkeypatch):
    """While an agent writes one session, each look finds it grown; the others are shown as the last look was told."""
    root = home.parent / "repo"
    log = transcript(home / ".claude", OTHER, root, f"Write b.py with {SECRET}")
    first = looked()
    read = []
    whole = stores.read
    monkeypatch.setattr(stores, "read", lambda hit, *more: read.append(hit.session_id) or whole(hit, *more))
    with log.open("a") as file:
        file.write(
            json.dumps({"type": "user", "uuid": "u-99", "message": {"role": "user", "content": "more"}})
            + "\n"
        )
    assert main._kept(24) is None
    second = looked()
    assert read == [OTHER]
    by_id = {one["id"]: one for one in first}
    (grown,) = [one for one in second if one != by_id[one["id"]]]
    assert grown["session"]["recentTurns"][-1]["text"] == "more"
    shutil.rmtree(home.parent / "state" / "looks")
    assert json.loads(looking.document(24)) == second, "as if nothing had been kept"
    assert read[1:] == [one["session"]["sessionId"] for one in second]


def test_what_lies_beside_a_session_is_asked_for_again_too(home):
    looked()
    task = home / ".claude" / "tasks" / SESSION / "1.json"
    task.parent.mkdir(parents=True)
    task.write_text(json.dumps({"id": "1", "subject": "Test it", "status": "pending"}))
    (found,) = looked()
    assert found["session"]["plan"] == ["Test it"]


def test_no_session_is_remembered_under_another_key_or_with_other_code(home, monkeypatch):
    """What is kept is what was shown, with the markers of the key."""
    root = str(home.parent / "repo")
    transcript(home / ".claude", OTHER, home.parent / "repo", f"Write b.py with {SECRET}")
    looked()
    code, kept = looks.remembered(root, 24)
    assert len(kept) == 2
    assert set(code) >= {looks.__file__, stores.__file__}
    assert SECRET.encode() not in b"".join(
        path.read_bytes() for path in (home.parent / "state" / "looks").iterdir()
    )
    monkeypatch.setenv("HUB_SOMETHING", "else")
    assert looks.remembered(root, 24) == ((), ())
    monkeypatch.delenv("HUB_SOMETHING")
    key = home.parent / "state" / "keys" / "redaction.key"
    key.write_text("0" * 64 + "\n")
    assert looks.remembered(root, 24) == ((), ())


def test_a_session_whose_id_is_not_shown_as_it_is_is_not_remembered(home):
    """By its id it is matched with agents, so it would have to be kept as it is."""
    transcript(home / ".claude", SECRET, home.parent / "repo", "Write b.py")
    assert len(looked()) == 2
    _, kept = looks.remembered(str(home.parent / "repo"), 24)
    assert [given[2] for given, *_ in kept] == [SESSION]
