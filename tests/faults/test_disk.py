"""A disk that is full, read-only or failing, in every state: nothing moves, nothing is lost, and it goes on by itself."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager, suppress

import pytest

from hub.errors import Code, HubError
from tests.faults.harness import Project, project, until, write
from tests.faults.invariants import ends
from tests.faults.test_daemon_killed import STATES, TASK
from tests.refusals import refuses
from tests.waiting import Gate

CODES = {"enospc": "no_space", "erofs": "read_only", "eio": "read_only"}


def troubles_and_moves(made: Project) -> list[str]:
    """The codes of the error events and the states moved to, in the order of the event log."""
    found = [e["meta"].get({"error": "code", "handoff": "to"}.get(e["tag"], "")) for e in made.events()]
    return [each for each in found if each]


@pytest.mark.parametrize("fault", CODES)
def test_a_move_that_cannot_be_written_waits(work, fault):
    """F6, F10 in every state: no transition; the code is told; it goes on by itself when the disk takes it."""
    made, oracle = work
    points = [f"fsm.{state}.pre_write={fault}@{2 if state == 'RUNNING' else 1}" for state in STATES]
    api = made.start(HUB_FAILPOINTS=";".join(points))
    api.post("/api/run", TASK)
    until(made.ended, "the session ends by itself")
    assert troubles_and_moves(made) == [
        each for state in [*STATES[1:], "RUNNING"] for each in (CODES[fault], state)
    ]
    ends(made, oracle, starts=2, verified=True, handoffsDone=1)


@pytest.mark.parametrize("fault", CODES)
def test_a_session_that_cannot_be_written_is_refused(work, fault):
    """F6 at the first record: the request says so, nothing was started, and the next request is taken."""
    made, oracle = work
    api = made.start(HUB_FAILPOINTS=f"fsm.RUNNING.pre_write={fault}@1")
    with pytest.raises(HubError) as caught:
        api.post("/api/run", TASK)
    assert (caught.value.status, str(caught.value.code)) == (507, CODES[fault])
    assert api.get("/api/status")["sessionState"] == "idle"
    assert made.starts() == []
    api.post("/api/run", TASK)
    ends(made, oracle)


@pytest.mark.parametrize("log", ["audit", "events"])
def test_a_log_that_cannot_be_written_holds_the_effect_back(work, log):
    """F6 on each log, at many of its writes: whatever was owed is told later, in order and once."""
    made, oracle = work
    points = ";".join(f"{log}.append=enospc@{n}" for n in (2, 3, 7, 12, 13, 18))
    api = made.start(HUB_FAILPOINTS=points)
    api.post("/api/run", TASK)
    until(lambda: any(e.get("meta", {}).get("ended") for e in made.events()), "the end is told")
    assert [e["meta"]["to"] for e in made.events() if e["tag"] == "handoff" and "to" in e["meta"]] == [
        *STATES[1:],
        "RUNNING",
    ]
    ends(made, oracle, starts=2, verified=True)


def no_daemon(made: Project, fault: str) -> subprocess.CompletedProcess[str]:
    """A daemon that ends at this fault of its disk."""
    return made.command("daemon", "--port", "0", "--json", HUB_FAILPOINTS=fault)


@pytest.mark.parametrize("nth", [2, 4, 7, 11])
def test_a_disk_that_fails_under_the_audit_log_ends_the_daemon_and_not_the_agent(work, nth):
    """F10: stop before the effect, exit 74, not tried again; the agent stays, and the next daemon goes on."""
    made, oracle = work
    api = made.start(HUB_FAILPOINTS=f"audit.append=eio@{nth}")
    with suppress(HubError):
        api.post("/api/run", TASK)
    assert made.wait_dead() == 74
    for _ in range(2):
        begun = time.monotonic()
        done = no_daemon(made, "audit.append=eio")
        assert done.returncode == 74
        assert "disk_failed" in done.stdout
        assert time.monotonic() - begun < 30
    before = set(made.starts())
    api = made.start()
    if not made.fsm():
        api.post("/api/run", TASK)
    ends(made, oracle, starts=2, verified=True, handoffsDone=1)
    assert before <= set(made.starts())


def test_a_record_that_cannot_be_read_is_neither_believed_nor_written_over(tmp_path):
    """F10: `disk_failed` and exit 74 before anything is done; the agent works on, and a later start takes it up."""
    (oracle := tmp_path / "oracle").touch()
    with Gate(tmp_path / "gate") as gate, project(tmp_path) as made:
        made.script("demo-first", write(oracle, "a.txt", "one"), {"run": gate.command}, {"done": "finished"})
        made.configure()
        made.start("--detach").post("/api/run", {"task": "write", "verify": ["test -f a.txt"]})
        until(oracle.read_text, "the agent works")
        assert made.stop() == 0
        kept = (made.hub / "fsm.json").read_bytes()
        done = no_daemon(made, "fsm.read=eio")
        assert (done.returncode, "disk_failed" in done.stdout) == (74, True), done
        assert "Traceback" not in done.stderr
        assert (made.hub / "fsm.json").read_bytes() == kept
        gate.open()
        made.start()
        ends(made, oracle, starts=1, verified=True)


@contextmanager
def small_disk(path, size):
    """A file system of its own, of a fixed size."""
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", str(path)],
        check=False,
        capture_output=True,
    )
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(disk):
    """Take every free byte; returns what gives them back."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out:
        for block in (1 << 16, 1 << 12):
            try:
                while True:
                    out.write(b"\0" * block)
            except OSError:
                continue
    return filler.unlink


def test_a_real_full_disk(tmp_path):
    """F6 for real: a tmpfs without a free byte. 507, the agent lives on, its bytes are kept, and it goes on."""
    oracle = tmp_path / "oracle"
    oracle.touch()
    gate = Gate(tmp_path / "gate")
    with gate, small_disk(tmp_path / "disk", "24m") as disk, project(disk) as made:
        first = [write(oracle, "a.txt", "before"), {"run": gate.command}]
        made.script("demo-first", *first, {"say": "on a full disk"}, {"limit": {"resetsIn": 3600}})
        made.script("demo-second", write(oracle, "b.txt", "after"), {"done": "finished"})
        made.configure()
        api = made.start()
        api.post("/api/run", {"task": "write", "verify": ["test -f b.txt"]})
        until(oracle.read_text, "the first agent has written")
        free = fill(disk)
        with refuses(Code.NO_SPACE) as caught:
            api.post("/api/handoff")
        assert caught.value.status == 507
        assert made.fsm()["state"] == "RUNNING"
        gate.open()
        status = until(lambda: (s := api.get("/api/status"))["error"] and s, "the trouble is shown")
        assert status["error"]["code"] == "no_space"
        assert status["fsmState"] == "RUNNING"
        assert len(made.starts()) == 1
        free()
        until(made.ended, "the session goes on by itself")
        assert api.get("/api/status")["error"] is None
        ends(made, oracle, starts=2, verified=True)


def test_a_stop_on_a_full_disk_does_not_wait_for_space(tmp_path):
    """SIGTERM and `hub stop` are answered within seconds, in words; every byte is there, and the next daemon goes on."""
    oracle = tmp_path / "oracle"
    oracle.touch()
    with small_disk(tmp_path / "disk", "24m") as disk, project(disk) as made:
        made.log = tmp_path / "agents.log"
        made.script("demo-first", write(oracle, "a.txt", "before"), {"say": "ready"}, {"hang": {}})
        made.configure()
        api = made.start()
        api.post("/api/run", {"task": "write"})
        made.says("ready")
        free = fill(disk)
        begun = time.monotonic()
        with pytest.raises(HubError) as caught:
            api.post("/api/session/stop")
        assert (caught.value.code, caught.value.status) == (Code.NO_SPACE, 507)
        assert "worktree" in caught.value.detail
        assert time.monotonic() - begun < 20
        begun = time.monotonic()
        assert made.stop() == 1
        assert time.monotonic() - begun < 20
        worktree = made.hub / "worktrees" / made.fsm()["sessionId"]
        assert (worktree / "a.txt").read_text() == "before\n"
        free()
        api = made.start()
        until(lambda: api.get("/api/status")["sessionState"] == "running", "the session goes on")
        api.post("/api/session/stop")
        record = ends(made, oracle, sessionState="stopped")
        assert made.show(f"{record['snapshotSha']}:a.txt") == b"before\n"
