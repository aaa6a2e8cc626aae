"""A project that brings its own `.hub`: committed, unpacked, copied or moved. Nothing in it is believed, and nothing runs.

Bug: a committed `.hub/fsm.json` with a fitting checksum made `hub daemon` run its `verify` and `task` in any `worktree`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hub.domain.canonical import canonical
from hub.domain.handoff import State
from hub.domain.session import SessionRecord, SessionState
from hub.io.records.sessions import FORM
from tests.faults.harness import Project, git, until

MARK = "it-ran"


def forged_session(made: Project, where: Path) -> bytes:
    """A record as hub of the form before wrote it, checksum and all, of a session whose agent says it is done."""
    session = "s-1-00000001"
    record = SessionRecord(
        state=State.RUNNING,
        session_id=session,
        seq=3,
        at="2026-01-01T00:00:00.000Z",
        session_state=SessionState.RUNNING,
        role="primary",
        task_id="t-1",
        task=f"touch {where / MARK}",
        branch=f"hub/{session}",
        worktree=str(where),
        worktree_ready=True,
        base=git(made.root, "rev-parse", "HEAD"),
        chain=("demo-first",),
        provider="demo-first",
        account="default",
        verify=(f"touch {where / MARK}",),
        dispatch_id="",
    )
    return FORM.encode(record)


def forge(made: Project, where: Path) -> None:
    """Everything hub keeps below `.hub`, as a stranger would write it, with checksums that fit."""
    hub = made.hub
    hub.mkdir(mode=0o700, exist_ok=True)
    (hub / "fsm.json").write_bytes(forged_session(made, where))
    run: dict[str, Any] = {"v": 1, "run": {}}
    run["crc"] = hashlib.sha256(canonical(run)).hexdigest()[:16]
    (hub / "pipeline-run.json").write_bytes(canonical(run))
    node = {"id": "n", "provider": "demo-first", "task": "x", "dependsOn": [], "fallback": [], "verify": [f"touch {where / MARK}"]}  # fmt: skip
    (hub / "pipelines.json").write_text(json.dumps([{"name": "forged", "nodes": [node]}]))
    (hub / "profiles.toml").write_text('[[profiles]]\nname = "forged"\nchain = ["demo-first"]\n')
    (hub / "accounts.toml").write_text(
        f'[claude]\nactive = "x"\n[[claude.accounts]]\nlabel = "x"\nconfigDir = "{where}"\n'
    )
    (hub / "breakers.json").write_text("[]")
    (hub / "approvals.json").write_text('{"v":1,"approvals":[]}')
    (hub / "daemon.json").write_text('{"pid": 1, "port": 1}')
    (hub / "audit.jsonl").write_text("{}\n")
    (hub / "audit.head").write_text("{}")
    (hub / "events.db").unlink(missing_ok=True)
    with closing(sqlite3.connect(hub / "events.db")) as db:
        db.executescript(
            "CREATE TABLE events (id INTEGER PRIMARY KEY, at_ms, tag, msg, meta, session, dispatch, place, part);"
            "INSERT INTO events VALUES (1, 0, 'text', 'forged event', '{}', 's-1-00000001', '', -1, 0);"
        )
    run_dir = hub / "run" / "d-1"
    run_dir.mkdir(parents=True, mode=0o700)
    (run_dir / "claim").write_text(json.dumps({"pid": 1, "starttime": 1, "bootId": "", "guardianPid": 1, "guardianStarttime": 1}))  # fmt: skip
    (run_dir / "verdict.json").write_text('{"code": 0, "reason": "exited"}')
    (hub / "git" / "merge").mkdir(parents=True, mode=0o700)
    (hub / "git" / "merge" / "config.new").symlink_to(where / "overwritten")


def contents(top: Path) -> dict[str, bytes]:
    """Every file below, and where links lead."""
    found = {}
    for folder, _, names in os.walk(top):
        for path in (Path(folder, name) for name in names):
            found[str(path.relative_to(top))] = (
                os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            )
    return found


def ready(made: Project) -> None:
    made.script("demo-first", {"write": {"path": "a.txt", "text": "a"}}, {"done": "ok"})
    made.configure()


def refused(made: Project) -> dict[str, Any]:
    """What a daemon that does not start says."""
    done = made.command("daemon", "--port", "0", "--json")
    assert done.returncode == 1
    problem: dict[str, Any] = json.loads(done.stdout)["error"]
    return problem


@pytest.mark.parametrize("kept", ["HEAD and index", "index only", "HEAD only", "other spelling"])
def test_a_tracked_hub_is_refused_untouched(made, tmp_path, kept):
    """A clone of a repository that brings `.hub`: refused with the code, and every byte is as it was."""
    ready(made)
    if kept == "other spelling":
        (made.root / ".HUB").mkdir()
        (made.root / ".HUB" / "fsm.json").write_bytes(forged_session(made, tmp_path))
        git(made.root, "add", "-f", ".HUB")
    else:
        forge(made, tmp_path)
        git(made.root, "add", "-f", ".hub")
    if kept != "index only":
        git(made.root, "commit", "-q", "-m", "take this")
    if kept == "HEAD only":
        git(made.root, "rm", "-q", "-r", "--cached", ".hub")
    before = contents(made.root)
    problem = refused(made)
    assert problem["code"] == "hub_tracked"
    assert "git rm" in problem["hint"]
    assert contents(made.root) == before
    assert not made.starts()
    assert not (tmp_path / MARK).exists()


def test_a_clone_is_as_untrusted_as_its_origin(made, tmp_path):
    forge(made, tmp_path)
    git(made.root, "add", "-f", ".hub")
    git(made.root, "commit", "-q", "-m", "take this")
    shutil.move(made.root, tmp_path / "origin")
    git(tmp_path, "clone", "-q", str(tmp_path / "origin"), str(made.root))
    ready(made)
    assert refused(made)["code"] == "hub_tracked"
    assert not (tmp_path / MARK).exists()


def test_an_unpacked_hub_is_not_believed(made, tmp_path):
    """Untracked, private, checksums and all: the daemon starts anew beside it, and says so. Every byte is kept."""
    ready(made)
    forge(made, tmp_path)
    archive = str(tmp_path / "hub.tar")
    subprocess.run(["tar", "-cf", archive, "-C", made.root, ".hub"], check=True)
    shutil.rmtree(made.hub)
    subprocess.run(["tar", "-xf", archive, "-C", made.root], check=True)
    before = contents(made.hub)
    api = made.start()
    status = api.get("/api/status")
    assert (status["sessionId"], status["role"]) == ("", "idle")
    assert api.get("/api/pipelines") == []
    assert "forged" not in [profile["name"] for profile in api.get("/api/profiles")]
    assert [event["meta"].get("code") for event in made.events()][:1] == ["not_sealed"]
    assert "forged event" not in [event["msg"] for event in made.events()]
    (aside,) = made.hub.glob("unsealed-*")
    assert {name: data for name, data in contents(aside).items() if "daemon.json" not in name} == {
        name: data for name, data in before.items() if "daemon.json" not in name
    }
    assert not made.starts()
    # and the project works
    api.post("/api/run", {"task": "write"})
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    assert made.stop() == 0
    assert not (tmp_path / MARK).exists()
    assert not (tmp_path / "overwritten").exists()


def test_records_put_into_a_folder_of_hubs_own_are_not_believed(made, tmp_path):
    """Unpacked over the folder of a project that hub works in: the stamp is hub's, the records are not."""
    ready(made)
    made.start()
    assert made.stop() == 0
    stamp = (made.hub / "stamp.json").read_bytes()
    for name in ("run", "git"):
        shutil.rmtree(made.hub / name)
    audit = {name: (made.hub / name).read_bytes() for name in ("audit.jsonl", "audit.head")}
    forge(made, tmp_path)
    (made.hub / "git" / "merge" / "config.new").unlink()
    for name, data in audit.items():
        (made.hub / name).write_bytes(data)
    assert (made.hub / "stamp.json").read_bytes() == stamp
    api = made.start()
    assert api.get("/api/status")["sessionId"] == ""
    assert api.get("/api/status")["error"]["code"] == "not_sealed"
    until(
        lambda: any("pipeline-run.json" in e["msg"] for e in made.events()), "the run's record is told of too"
    )
    assert "forged event" not in [event["msg"] for event in made.events()]
    assert not any(
        account["label"] == "x" for entry in api.get("/api/config/providers") for account in entry["accounts"]
    )
    api.post("/api/run", {"task": "write"})
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    assert made.stop() == 0
    assert len(made.starts()) == 1
    assert not (tmp_path / MARK).exists()


@pytest.mark.parametrize("way", ["copied", "moved"])
def test_a_project_at_another_place_begins_anew(made, tmp_path, way):
    """`cp -r`, or a folder that was renamed: its own records speak of another place. They are kept, and that is said."""
    ready(made)
    made.start().post("/api/run", {"task": "write"})
    session = until(made.ended, "the session ends")["sessionId"]
    assert made.stop() == 0
    record = (made.hub / "fsm.json").read_bytes()
    there = tmp_path / "there" / "repo"
    there.parent.mkdir()
    if way == "copied":
        shutil.copytree(made.root, there, symlinks=True)
    else:
        made.root.rename(there)
    made.root = there
    api = made.start()
    assert api.get("/api/status")["sessionId"] == ""
    (told,) = [event for event in made.events() if event["meta"].get("code") == "not_sealed"]
    assert "copied or moved" in told["msg"]
    assert "earlier work on hub/*" in told["msg"]
    assert "git worktree repair" in told["meta"]["hint"]
    (aside,) = made.hub.glob("unsealed-*")
    assert (aside / "fsm.json").read_bytes() == record
    assert made.show(f"hub/{session}:a.txt") == b"a"
    assert (made.hub / "worktrees" / session / "a.txt").is_file()
    assert made.stop() == 0


@pytest.mark.parametrize("kind", ["link", "file", "writable", "group"])
def test_a_hub_that_others_can_change_is_refused(made, tmp_path, kind):
    ready(made)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    if kind == "link":
        made.hub.symlink_to(tmp_path / "elsewhere")
    elif kind == "file":
        made.hub.write_text("x")
    else:
        made.hub.mkdir()
        made.hub.chmod(0o777 if kind == "writable" else 0o770)
    assert refused(made)["code"] == "no_permission"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_keys_written_by_hand_stay_and_are_told_of_and_a_link_is_put_aside(made, tmp_path):
    """`.hub/.env` is the user's to write, also before hub's first run. That somebody else may have is said, once."""
    ready(made)
    made.hub.mkdir(mode=0o700)
    (made.hub / ".env").write_text("OPENAI_API_KEY=mine\n")
    for _ in range(2):
        made.start()
        told = [event["msg"] for event in made.events() if event["meta"].get("code") == "not_sealed"]
        assert made.stop() == 0
        assert len(told) == 1
        assert "its keys are used" in told[0]
    assert (made.hub / ".env").read_text() == "OPENAI_API_KEY=mine\n"
    shutil.rmtree(made.hub)
    made.hub.mkdir(mode=0o700)
    (tmp_path / "theirs").write_text("OPENAI_API_KEY=theirs\n")
    (made.hub / ".env").symlink_to(tmp_path / "theirs")
    made.start()
    assert made.stop() == 0
    assert not os.path.lexists(made.hub / ".env")
    assert [path.is_symlink() for path in made.hub.glob("unsealed-*/.env")] == [True]


@pytest.mark.parametrize("name", ["events.db", "graph.db"])
def test_a_log_that_is_laid_beside_a_database_of_hubs_own_is_not_believed(made, tmp_path, name):
    """SQLite takes a `-wal` for the database's own, whoever wrote it: an unpacked one told a history that never was."""
    ready(made)
    made.start().get("/api/graph")
    assert made.stop() == 0
    copy = tmp_path / name
    shutil.copyfile(made.hub / name, copy)
    table = {"events.db": "events", "graph.db": "notes"}[name]
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        row = {
            "events": "(1000, 0, 'text', 'forged event', '{}', 's-1-00000001', '', -1, 0)",
            "notes": "('forged', '1')",
        }[table]
        db.execute(f"INSERT INTO {table} VALUES {row}")
        shutil.copyfile(f"{copy}-wal", made.hub / f"{name}-wal")
    made.start().get("/api/graph")
    assert "forged event" not in [event["msg"] for event in made.events()]
    if name == "events.db":
        assert "not_sealed" in [event["meta"].get("code") for event in made.events()]
    (aside,) = made.hub.glob(f"{name}-wal.unsealed-*")
    assert b"forged" in aside.read_bytes()
    assert made.stop() == 0
    with closing(sqlite3.connect(f"file:{made.hub / name}?mode=ro", uri=True)) as db:
        assert "forged" not in str(db.execute(f"SELECT * FROM {table}").fetchall())


def test_the_log_of_a_daemon_that_was_killed_is_hubs_own(made):
    """What it had appended is in the log alone: it is read, and nothing is put aside."""
    ready(made)
    made.start().post("/api/run", {"task": "write"})
    until(made.ended, "the session ends")
    before = [event["msg"] for event in made.events()]
    made.kill()
    made.start()
    assert [event["msg"] for event in made.events()][: len(before)] == before
    assert list(made.hub.glob("*.unsealed-*")) == []
