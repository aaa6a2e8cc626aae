"""Orderly stops in every state, and starts on what somebody or something has damaged meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from hub.errors import Code
from hub.io.records.store import _crc
from tests.faults.harness import Project, git, try_post, until, write
from tests.faults.invariants import check_invariants, ends
from tests.faults.test_agent_faults import process
from tests.faults.test_daemon_killed import STATES, TASK, run_with_fault
from tests.refusals import refuses

STOP_LIMIT = 10.0


def hanging(made: Project, oracle, **first) -> None:
    """A first agent that writes and then waits for ever, a second one that finishes."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"say": "ready"}, first or {"hang": {}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.configure()


def at_work(made: Project, oracle, order=None, **env):
    """The API of a daemon whose session's first agent waits for ever."""
    hanging(made, oracle)
    api = made.start(**env)
    api.post("/api/run", {"task": "write", **(order or {})})
    made.says("ready")
    return api


def over(made: Project, oracle) -> None:
    """A session has ended, and its daemon too."""
    hanging(made, oracle, done="finished")
    made.start().post("/api/run", {"task": "write"})
    until(made.ended, "the session ends")
    made.stop()


def failed_with(made: Project, code: str) -> dict:
    """The session has ended, saying this code."""
    record = until(made.ended, "the session ends by itself")
    assert (record["sessionState"], record["error"]["code"]) == ("failed", code)
    return record


# --- an older .hub ------------------------------------------------------------------------------------


def test_a_session_that_an_older_hub_folder_brings_back_is_not_done_once_more(work):
    """A backup of `.hub` was put over a newer one: its session was at work in it, and ran again, paid for twice."""
    made, oracle = work
    api = at_work(made, oracle)
    backup = made.root.parent / "backup"
    subprocess.run(["cp", "-a", str(made.hub), str(backup)], check=True)
    api.post("/api/session/stop", {})
    assert until(made.ended, "the session ends")["sessionState"] == "stopped"
    made.stop()
    branch, started = made.fsm()["branch"], made.starts()
    done = git(made.root, "rev-parse", branch)
    made.hub.rename(made.root.parent / "newer")
    backup.rename(made.hub)
    made.start()
    record = failed_with(made, "audit_broken")
    assert f"hub run --continue {record['sessionId']}" in record["error"]["hint"]
    assert made.starts() == started, "no agent was started"
    git(made.root, "merge-base", "--is-ancestor", done, branch)


# --- X1 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_sigterm_is_an_orderly_stop_in_every_state(work, gate, state):
    """X1: exit 0 in time, the session stopped with a snapshot of every byte, no agent left."""
    made, oracle = work
    made.script("demo-first", write(oracle, "a.txt", "one"), {"say": "ready"}, {"hang": {}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"hang": {}})
    nth = 2 if state == "RUNNING" else 1
    api = made.start(HUB_FAILPOINTS=f"fsm.{state}.post_rename={gate.failpoint}@{nth}")
    api.post("/api/run", TASK)
    made.says("ready")
    wanted = (state, 1) if state == "RUNNING" else (state, 0)
    with ThreadPoolExecutor() as pool:
        pool.submit(try_post, api, "/api/handoff", {})  # a daemon at the gate answers nobody
        until(
            lambda: (made.fsm()["state"], made.fsm()["handoffsDone"]) == wanted, f"the session is in {state}"
        )
        begun = time.monotonic()
        made.daemon.send_signal(signal.SIGTERM)
        gate.open()
        assert made.wait_dead() == 0
    assert time.monotonic() - begun < STOP_LIMIT
    record = made.fsm()
    assert record["sessionState"] == "stopped"
    assert made.show(f"{record['snapshotSha']}:a.txt") == b"one\n"
    check_invariants(made, oracle)


def test_sigterm_cuts_an_acceptance_command_short(made, oracle):
    """X1: nobody waits for a verifier that takes its ten minutes."""
    hanging(made, oracle, done="finished")
    api = made.start()
    api.post("/api/run", {"task": "write", "verify": ["tail -f /dev/null"]})
    made.says("verify: tail")
    begun = time.monotonic()
    assert made.stop() == 0
    assert time.monotonic() - begun < STOP_LIMIT
    assert made.fsm()["sessionState"] == "stopped"
    check_invariants(made, oracle)


def test_a_detached_daemon_leaves_its_agent(made, oracle, gate):
    """X1 with `--detach`: the same process goes on, and the next daemon takes the session to its end."""
    hanging(made, oracle, run=f"{gate.command}; printf 'two\\n' > b.txt")
    made.start("--detach").post("/api/run", {"task": "write", "verify": ["test -f b.txt"]})
    made.says("ready")
    agent = process(made, "agent.json", "pid")
    assert made.stop() == 0
    assert Path(f"/proc/{agent}").exists()
    assert made.fsm()["sessionState"] == "running"
    gate.open()
    made.start()
    ends(made, oracle, starts=1, verified=True)


# --- X2 -------------------------------------------------------------------------------------------------


def sealed(made: Project, wire: dict) -> bytes:
    """A record that hub itself has written, as far as checksum and seal tell."""
    body = {key: value for key, value in wire.items() if key not in ("crc", "seal")}
    return made.sealed("fsm.json", msgspec.json.encode({**body, "crc": _crc(body)}))


DAMAGE = {
    "empty": lambda _, data: b"",
    "truncated": lambda _, data: data[: len(data) // 2],
    "bit flip": lambda _, data: data.replace(b"RUNNING", b"RUNNINF", 1),
    "unknown state": lambda made, data: sealed(made, {**json.loads(data), "state": "DREAMING"}),
    "another worktree": lambda made, data: sealed(made, {**json.loads(data), "worktree": str(made.root)}),
}


def test_a_damaged_record_is_kept_aside_and_said(made, oracle):
    """X2: explicit, not repaired, not overwritten; another session can start."""
    over(made, oracle)
    path = made.hub / "fsm.json"
    good, put_aside = path.read_bytes(), []
    for number, damage in enumerate(DAMAGE.values(), 1):
        made.stop()
        path.write_bytes(damage(made, good))
        path.chmod(0o600)
        put_aside.append(path.read_bytes())
        api = made.start()
        status = api.get("/api/status")
        assert (status["error"]["code"], status["sessionState"]) == ("state_corrupt", "idle")
        assert [e["meta"].get("code") for e in made.events()].count("state_corrupt") == number
        kept = [p.read_bytes() for p in made.hub.glob("fsm.json.corrupt-*")]
        assert sorted(kept) == sorted(put_aside)
    api.post("/api/run", {"task": "again"})
    ends(made, oracle, task="again")


# --- X3, X4 ---------------------------------------------------------------------------------------------


def test_a_torn_audit_record_is_moved_aside(made, oracle):
    """X3: what a power cut left of a record is kept, said in the log itself, and the log goes on."""
    over(made, oracle)
    with (made.hub / "audit.jsonl").open("ab") as out:
        out.write(b'{"ts":"2026')
    made.start()
    log = (made.hub / "audit.jsonl").read_text().splitlines()
    assert "audit.recovered" in [json.loads(line)["event"] for line in log]
    assert [p.read_bytes() for p in made.hub.glob("audit.torn-*")] == [b'{"ts":"2026']
    made.stop()
    assert made.command("audit", "verify").returncode == 0
    check_invariants(made, oracle)


VALUE = (b'"event":"', b'"event":"x')
SYNTAX = (b'"event":"', b'"event";"')


def flip(made: Project, seq: int, change: tuple[bytes, bytes] = VALUE) -> None:
    """Change one record of the audit log."""
    path = made.hub / "audit.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[seq] = lines[seq].replace(*change, 1)
    assert lines[seq] != path.read_bytes().split(b"\n")[seq]
    path.write_bytes(b"\n".join(lines))


@pytest.mark.parametrize("change", [VALUE, SYNTAX])
def test_a_changed_audit_log_takes_nothing_more(made, oracle, change):
    """X4: verify names the record; the daemon serves, but starts no session without its log, and says so."""
    over(made, oracle)
    flip(made, 1, change)
    done = made.command("audit", "verify")
    assert done.returncode == 1
    assert re.search(r"record:\s+1\b", done.stdout)
    before = (made.hub / "audit.jsonl").read_bytes()
    api = made.start()
    with refuses(Code.AUDIT_BROKEN, "Record 1 "):
        api.post("/api/run", {"task": "again"})
    whole, broken = api.get("/api/history")
    assert (whole["seq"], broken["seq"], broken["event"]) == (0, 1, "audit_broken")
    assert api.get("/api/status")["sessionState"] == "completed"
    assert made.stop() == 0
    assert (made.hub / "audit.jsonl").read_bytes() == before


def test_a_running_session_ends_in_words_when_its_audit_log_was_changed(made, oracle):
    """X4 under way: the agent is stopped, its bytes are on the branch, the code is `audit_broken`."""
    at_work(made, oracle)
    made.kill()
    flip(made, 1)
    made.start()
    record = failed_with(made, "audit_broken")
    assert made.show(f"{record['snapshotSha']}:a.txt") == b"one\n"
    assert made.stop() == 0
    assert len(made.starts()) == 1


# --- X5, X6 ---------------------------------------------------------------------------------------------


def test_a_deleted_worktree_is_said(made, oracle):
    """X5: `worktree_missing`, nothing is made anew in its place, and the next session works."""
    api = at_work(made, oracle)
    shutil.rmtree(made.fsm()["worktree"])
    api.post("/api/handoff")
    failed_with(made, "worktree_missing")
    oracle.write_text("")
    made.script("demo-first", write(oracle, "c.txt", "three"), {"done": ""})
    api.post("/api/run", {"task": "again"})
    until(lambda: made.ended().get("task") == "again", "the next session ends")
    ends(made, oracle)


# --- X12 -------------------------------------------------------------------------------------------------


def rotate_key(made: Project) -> None:
    (key,) = (p for p in made.state.rglob("*contract*") if p.is_file())
    key.write_text(os.urandom(32).hex() + "\n")


def tamper(made: Project) -> None:
    path = made.hub / "envelope.json"
    path.write_bytes(path.read_bytes().replace(b"write the files", b"email the files"))


def lose(made: Project) -> None:
    (made.hub / "envelope.json").unlink()


@pytest.mark.parametrize("harm", [rotate_key, tamper, lose])
def test_a_contract_that_does_not_verify_is_never_given_to_an_agent(work, harm):
    """X12: `contract_invalid`; the receiver is not started; the first agent's work is on the branch."""
    made, _ = work
    run_with_fault(made, "fsm.ENVELOPE_BUILT.post_rename=kill9")
    harm(made)
    made.start()
    failed_with(made, "contract_invalid")
    assert made.stop() == 0
    assert len(made.starts()) == 1
    record = made.fsm()
    assert made.show(f"hub/{record['sessionId']}:a3.txt") == b"first 3\n"
    assert record["state"] == "RUNNING"


@pytest.mark.parametrize("own", [True, False])
def test_a_record_of_a_newer_hub_is_left_as_it_is(made, oracle, own):
    """X2: it was renamed, and the newer hub then found no session. Nothing is written over it."""
    over(made, oracle)
    path = made.hub / "fsm.json"
    ours = json.loads(path.read_bytes())
    wire = {**ours, "v": ours["v"] + 1}
    path.write_bytes(sealed(made, wire) if own else msgspec.json.encode(wire))
    kept = path.read_bytes()
    api = made.start()
    assert api.get("/api/status")["error"]["code"] == "state_corrupt"
    with refuses(Code.STATE_CORRUPT):
        api.post("/api/run", {"task": "again"})
    made.stop()
    assert path.read_bytes() == kept
    assert not list(made.hub.glob("fsm.json.*"))


@pytest.mark.parametrize(("point", "again"), [("asked", ""), ("told", "asked"), ("gone", "told")])
def test_a_stop_outlives_the_daemon_that_was_asked_for_it(made, oracle, point, again):
    """X1: killed before the agent was told, after, or after its end: that end was told as `failed`, `agent_exited`."""
    api = at_work(made, oracle, HUB_FAILPOINTS=f"stop.{point}=kill9")
    try_post(api, "/api/session/stop", {})
    assert made.wait_dead() == -9
    assert (made.fsm()["sessionState"], made.fsm()["stopping"]) == ("running", "user")
    if again:
        with contextlib.suppress(AssertionError):  # it may be dead before it says where it listens
            made.start(HUB_FAILPOINTS=f"stop.{again}=kill9")
        assert made.wait_dead() == -9
    made.start()
    record = ends(made, oracle, starts=1, sessionState="stopped", error=None)
    assert made.show(f"{record['snapshotSha']}:a.txt") == b"one\n"


def test_a_stop_within_a_handoff_starts_nobody_else(work):
    """The daemon dies while it waits for the agent's safe point: the next one gives the work to nobody."""
    made, oracle = work
    hanging(made, oracle, run="tail -f /dev/null")
    api = made.start()
    api.post("/api/run", {"task": "write"})
    made.says("tail -f")
    api.post("/api/handoff")
    with ThreadPoolExecutor() as pool:
        pool.submit(try_post, api, "/api/session/stop", {})
        until(lambda: (r := made.fsm())["state"] == "PAUSING" and r["stopping"], "the stop is on record")
        made.kill()
    made.start()
    ends(made, oracle, starts=1, sessionState="stopped")


def test_the_second_signal_ends_the_daemon_at_once(made, oracle):
    """X1: whoever cannot wait for the order asks twice; the next daemon ends the session."""
    hanging(made, oracle, hang={"stubborn": True})
    api = made.start()
    api.post("/api/run", {"task": "write"})
    made.says("ready")
    made.daemon.send_signal(signal.SIGTERM)

    def again():
        made.daemon.send_signal(signal.SIGTERM)  # two that come at once are one to the kernel
        return made.daemon.poll()

    assert until(again, "the daemon ends") == 128 + signal.SIGTERM
    assert made.fsm()["sessionState"] == "running"
    made.start()
    made.stop()
    assert made.fsm()["sessionState"] == "stopped"
    check_invariants(made, oracle)
