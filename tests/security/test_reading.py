"""Looking changes nothing: no read command makes, mends or touches a file of the project, also where none could be made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.client.quick import Api
from hub.errors import Code
from tests.faults.harness import HUB, Project, project, until
from tests.refusals import refuses

LOOKS = [
    ("logs",),
    ("logs", "--json"),
    ("history",),
    ("history", "--handoffs"),
    ("history", "--commits"),
    ("history", "--json"),
    ("diff",),
    ("audit", "verify"),
    ("doctor",),
    ("providers",),
    ("detect",),
    ("detect", "--json"),
    ("pipeline", "list"),
    ("pipeline", "show"),
    ("account", "list"),
    ("config", "list"),
    ("status",),
    ("quota",),
    ("approvals",),
    ("cost",),
]
OFFLINE = [look for look in LOOKS if look[0] in ("logs", "history", "diff", "audit")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project in which a session was, and no daemon is."""
    with project(tmp_path_factory.mktemp("looks")) as found:
        found.script("demo-first", {"write": {"path": "a.txt", "text": "a"}}, {"limit": {"resetsIn": 3600}})
        found.script("demo-second", {"write": {"path": "b.txt", "text": "b"}}, {"done": "ok"})
        found.configure()
        found.start().post("/api/run", {"task": "write"})
        until(found.ended, "the session ends")
        assert found.stop() == 0
        yield found


def hub(made: Project, *words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    if not before:
        return made.command(*words)
    command = ["unshare", "-m", "sh", "-c", f'{before} && exec "$@"', "sh", *HUB, *words]
    return subprocess.run(
        command, cwd=made.root, env=made.environ(), capture_output=True, text=True, timeout=120, check=False
    )


def tree(top: Path) -> dict[str, tuple[object, ...]]:
    """Everything below: kind, mode, size, both times of change, and the bytes."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(top):
        for path in (Path(folder), *(Path(folder, name) for name in (*folders, *files))):
            stat = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path)] = (stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, data)
    return found


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_no_look_changes_the_project(made, look):
    before = tree(made.root)
    done = hub(made, *look)
    assert "Traceback" not in done.stderr
    assert tree(made.root) == before


@pytest.fixture
def torn(made: Project, tmp_path: Path) -> Iterator[Project]:
    """The same after a kill at a bad moment: an unfinished line, a WAL that nobody has taken in. Same place, for the seals."""
    kept = tmp_path / "kept"
    shutil.copytree(made.hub, kept, symlinks=True)
    made.start().post("/api/run", {"task": "again"})
    until(lambda: (made.hub / "events.db-wal").exists() and made.ended(), "the second session ends")
    made.kill()
    with (made.hub / "audit.jsonl").open("ab") as file:
        file.write(b'{"data":{"half')
    yield made
    shutil.rmtree(made.hub)
    shutil.copytree(kept, made.hub, symlinks=True)


def test_what_a_kill_left_is_read_and_not_mended(torn):
    """A look was a start in disguise: it moved the torn tail aside and wrote records of its own."""
    before = tree(torn.root)
    assert (torn.hub / "events.db-wal").stat().st_size > 0
    for look in OFFLINE:
        done = hub(torn, *look)
        assert done.returncode == 0, (look, done.stderr)
        assert done.stdout, look
        assert tree(torn.root) == before, look
    told = [event["msg"] for event in json.loads(hub(torn, "logs", "--json").stdout)]
    assert "session started: again" in told, "the newest events are in it"


READ_ONLY = "mount --bind .hub .hub && mount -o remount,bind,ro .hub"


@pytest.mark.parametrize("look", OFFLINE, ids=" ".join)
def test_a_folder_that_cannot_be_written_is_read(made, look):
    """`hub history` and `hub logs` wanted to write the lock, and then the logs."""
    if os.geteuid() != 0 or hub(made, "--version", before=READ_ONLY).returncode != 0:
        made.hub.chmod(0o500)
    done = hub(made, *look, before=READ_ONLY if os.geteuid() == 0 else "true")
    made.hub.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("mode", [0o500, 0o700])
def test_so_is_one_whose_mode_forbids_it(made, mode):
    """As another user would see it who has been given the project, and as a read-only backup is."""
    made.hub.chmod(mode)
    try:
        assert hub(made, "history").returncode == 0
        assert hub(made, "logs").returncode == 0
        assert made.hub.stat().st_mode & 0o777 == mode
    finally:
        made.hub.chmod(0o700)


def test_a_damaged_log_is_said_and_left_as_it_is(made, tmp_path):
    """It was put aside by whoever looked. A daemon does that."""
    shutil.copy(made.hub / "events.db", tmp_path / "kept")
    (made.hub / "events.db").write_bytes(b"xx" * 400)
    before = tree(made.root)
    error = json.loads(hub(made, "logs", "--json").stdout)["error"]
    assert (error["code"], "hub daemon" in error["hint"]) == ("state_corrupt", True)
    assert tree(made.root) == before
    shutil.copy(tmp_path / "kept", made.hub / "events.db")


# --- a log that was tampered with -----------------------------------------------------------------------


@pytest.fixture
def tampered(made: Project) -> Iterator[Project]:
    path = made.hub / "audit.jsonl"
    kept = path.read_bytes()
    lines = kept.splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"at":"2', b'"at":"3', 1)
    path.write_bytes(b"".join(lines))
    yield made
    path.write_bytes(kept)


def test_every_face_says_that_the_log_was_tampered_with_and_where(tampered):
    """It was shown as a shorter history, in silence."""
    done = hub(tampered, "history")
    assert (done.returncode, done.stdout.count("audit_broken")) == (1, 1)
    assert "Record 3 of the audit log is bad" in done.stderr
    done = hub(tampered, "history", "--json")
    assert (done.returncode, [row["seq"] for row in json.loads(done.stdout)]) == (1, [0, 1, 2, 3])
    assert json.loads(done.stdout)[3]["event"] == "audit_broken"
    findings = {found["check"]: found for found in json.loads(hub(tampered, "doctor", "--json").stdout)}
    assert (findings["audit log"]["ok"], "record 3" in findings["audit log"]["detail"]) == (False, True)
    tampered.start()
    try:
        said = tampered.root.parent / "daemon.log"
        until(lambda: "Record 3 of the audit log is bad" in said.read_text(), "the start says it")
        assert any(
            e["meta"].get("code") == "audit_broken" and "Record 3" in e["msg"] for e in tampered.events()
        )
        status = json.loads(hub(tampered, "status", "--json").stdout)
        assert (status["audit"]["code"], status["audit"]["seq"]) == ("audit_broken", 3)
        assert "Record 3 of the audit log is bad" in hub(tampered, "status").stdout
        done = hub(tampered, "history")
        assert (done.returncode, "Record 3" in done.stderr) == (1, True)
        for query in ({}, {"event": "handoff"}, {"limit": 1}):
            last = Api(tampered.port).get("/api/history", query)[-1]
            assert (last["seq"], last["event"]) == (3, "audit_broken"), query
            assert "Record 3 of the audit log is bad" in last["summary"]
    finally:
        assert tampered.stop() == 0


FORGED = {
    "changed": lambda whole: whole.replace(b'"to":"PAUSING"', b'"to":"pausing"', 1),
    "cut": lambda whole: b"".join(whole.splitlines(keepends=True)[:-2]),
    "no record at all": lambda whole: whole.replace(
        b'"event":"handoff","hash":"', b'"event":"handoff","hash":!', 1
    ),
    "added": lambda whole: whole + whole.splitlines(keepends=True)[-1],
}


@pytest.mark.parametrize("how", FORGED)
def test_a_daemon_believes_no_record_that_was_changed_under_it(made, how):
    """Where records end was kept in memory; what stands there now was shown as it was read."""
    api = made.start()
    path = made.hub / "audit.jsonl"
    kept = path.read_bytes()
    assert api.get("/api/history")[-1]["event"] != "audit_broken"
    forged = FORGED[how](kept)
    assert forged != kept
    with path.open("r+b") as file:  # the very file that is open
        file.truncate(len(forged))
        file.write(forged)
    try:
        for query in ({}, {"event": "handoff"}):
            rows = api.get("/api/history", query)
            assert rows[-1]["event"] == "audit_broken", query
            assert "pausing" not in json.dumps(rows)
        with refuses(Code.AUDIT_BROKEN):
            api.get("/api/audit/head")
    finally:
        assert made.stop() == 0
        path.write_bytes(kept)


def test_a_log_that_was_put_away_under_a_daemon_is_missed(made, tmp_path):
    """It wrote on, to a file that had no name any more."""
    api = made.start()
    path = made.hub / "audit.jsonl"
    shutil.copy2(path, tmp_path / "kept")
    path.unlink()
    try:
        assert api.get("/api/history")[-1]["event"] == "audit_broken"
    finally:
        assert made.stop() == 0
        shutil.copy2(tmp_path / "kept", path)


def test_a_log_that_is_gone_is_no_empty_history(made, tmp_path):
    shutil.move(made.hub / "audit.jsonl", tmp_path / "kept")
    done = hub(made, "history")
    shutil.move(tmp_path / "kept", made.hub / "audit.jsonl")
    assert done.returncode == 1
    assert "is gone" in done.stderr
