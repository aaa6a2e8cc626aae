"""The census sees what comes and goes, reads only what is new, and is not deceived by numbers and names."""

from __future__ import annotations

import os
import subprocess

import attrs
import pytest

from hub.domain.detection.processes import Evidence
from hub.io.processes import facts
from hub.io.processes.table import Census
from hub.io.runner import proc
from hub.io.stores.registries import Registries
from hub.providers.registry import signatures
from tests.hub.io.agents import PLAIN, program, register, running
from tests.waiting import until

SIGNATURES = signatures()
SESSION = "01a1fe0c-897b-7642-9087-e765bd0c6561"


@attrs.define
class Clock:
    now: float = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def census(tmp_path):
    return Census(SIGNATURES, Registries(SIGNATURES, {"HOME": str(tmp_path / "home")}), Clock())


def mine(census, pid):
    """The agent of this pid; other tests may run agents beside."""
    return next((agent for agent in census.agents() if agent.key[0] == pid), None)


def come(census, pid):
    """Looks until the agent is seen whole: for a moment after its exec a process has no environment yet.

    The time goes on between two looks. Who falls between its fork and its exec at a census's very first look is seen when
    everything is looked at anew, and with a clock that stood still that time never came.
    """

    def whole():
        census.look()
        found = mine(census, pid)
        if found is not None and found.head.process.env:
            return True
        census.clock.now += 30
        return False

    until(whole, "it is found")


def test_an_agent_is_seen_when_it_comes_and_when_it_goes(tmp_path, census):
    census.look()
    with running(tmp_path, CLAUDE_CONFIG_DIR="/a/c") as pid:
        come(census, pid)
        found = mine(census, pid)
        assert found is not None
        process = found.head.process
        assert (found.head.provider, found.best.evidence, found.best.home) == (
            "claude",
            Evidence.EXECUTABLE,
            "/a/c",
        )
        assert (process.cwd, process.parent, process.run_id) == (str(tmp_path), os.getpid(), "")
        assert process.starttime == proc.starttime(pid)
        assert abs(process.began - tmp_path.stat().st_mtime) < 30
    assert census.look()
    assert mine(census, pid) is None


def test_a_second_look_reads_nothing(tmp_path, census, monkeypatch):
    """0.1 ms: the promise that lets the daemon look all the time."""
    with running(tmp_path) as pid:
        come(census, pid)
        census.clock.now += 10
        census.look()
        monkeypatch.setattr(facts, "read", lambda pid, _: pytest.fail(f"read {pid}") if pid == it else None)
        it = pid
        census.look()
        census.clock.now += 10
        census.look()
        assert mine(census, pid) is not None


def test_a_process_may_become_an_agent_after_it_was_seen(tmp_path, census):
    """Between fork and exec it is still its shell."""
    census.look()
    script = 'read line; exec "$0" 1000'
    argv = ["/bin/sh", "-c", script, str(program(tmp_path))]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, env=PLAIN, cwd=tmp_path) as process:
        try:
            census.look()
            assert mine(census, process.pid) is None
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            come(census, process.pid)
        finally:
            process.kill()


def test_a_number_that_was_given_away_is_somebody_new(tmp_path, census):
    with running(tmp_path) as pid:
        come(census, pid)
        found = census.found[pid]
        census.found[pid] = attrs.evolve(found, process=attrs.evolve(found.process, starttime=1))
        assert census.look()
        assert census.found[pid] == found


def test_the_registry_knows_an_agent_whatever_its_program_is_called(tmp_path, census):
    """Claude's own file, with the start time of the process, is enough; a file of an earlier process is nothing."""
    home = tmp_path / "home" / ".claude"
    with running(tmp_path, name="renamed") as pid, running(tmp_path, name="other") as other:
        census.look()
        assert mine(census, pid) is None
        register(home, pid, SESSION)
        register(home, other, SESSION, procStart="1")
        (home / "sessions" / "77.json").write_text("{half")
        (home / "sessions" / "notes.json").write_text("{}")
        assert census.look()
        found = mine(census, pid)
        assert found is not None
        assert (found.best.evidence, found.best.session_id) == (Evidence.REGISTRY, SESSION)
        assert mine(census, other) is None


def test_the_registry_of_an_agents_own_account_is_read_too(tmp_path, census):
    home = tmp_path / "account"
    with running(tmp_path, CLAUDE_CONFIG_DIR=str(home)) as pid:
        come(census, pid)
        register(home, pid, SESSION)
        census.look(deep=True)
        found = mine(census, pid)
        assert found is not None
        assert found.best.session_id == SESSION
        (home / "sessions" / f"{pid}.json").write_text("{}")
        census.look(deep=True)
        again = mine(census, pid)
        assert again is not None
        assert again.best.session_id == ""


def test_an_agent_and_the_registry_it_brings_are_read_in_one_look(tmp_path, census):
    """The account of a real agent was unknown until it was seen: the first `hub detect` told its session as likely only."""
    home = tmp_path / "account"
    with running(tmp_path, CLAUDE_CONFIG_DIR=str(home)) as pid:
        register(home, pid, SESSION)
        until(lambda: facts.read(pid, lambda *_: True).env, "it has its environment")
        census.look()
        found = mine(census, pid)
        assert found is not None
        assert (found.best.evidence, found.best.session_id) == (Evidence.REGISTRY, SESSION)


def test_hubs_own_agents_carry_their_run(tmp_path, census):
    with running(tmp_path, HUB_RUN_ID="d-1") as pid:
        come(census, pid)
        found = mine(census, pid)
        assert found is not None
        assert found.head.process.run_id == "d-1"


def test_a_script_is_known_by_where_its_link_leads(tmp_path, census):
    """npm's `.bin/gemini` is a link into the package."""
    real = tmp_path / "node_modules" / "@google" / "gemini-cli" / "bundle" / "gemini.py"
    real.parent.mkdir(parents=True)
    real.write_text("import time\ntime.sleep(1000)\n")
    link = tmp_path / "node_modules" / "gemini"
    link.symlink_to(real)
    python = os.path.realpath("/proc/self/exe")
    with subprocess.Popen([python, "-S", "node_modules/gemini"], cwd=tmp_path, env=PLAIN) as process:
        try:
            come(census, process.pid)
            found = mine(census, process.pid)
            assert found is not None
            assert (found.head.provider, found.best.evidence) == ("gemini", Evidence.SCRIPT)
        finally:
            process.kill()


def test_an_open_store_is_seen(tmp_path, census):
    """As Codex holds its rollout open."""
    rollout = (
        tmp_path
        / "codex"
        / "sessions"
        / "2026"
        / "11"
        / "21"
        / f"rollout-2026-11-21T03-01-09-{SESSION}.jsonl"
    )
    rollout.parent.mkdir(parents=True)
    with rollout.open("w") as file:
        argv = [str(program(tmp_path, "codex")), "1000"]
        with subprocess.Popen(argv, env=PLAIN, cwd=tmp_path, stdout=file) as process:
            try:
                come(census, process.pid)
                found = mine(census, process.pid)
                assert found is not None
                assert (found.best.home, found.best.session_id) == (str(tmp_path / "codex"), SESSION)
            finally:
                process.kill()


def test_without_proc_psutil_tells_the_same(tmp_path, census, monkeypatch):
    """macOS has no `/proc`."""
    with running(tmp_path, CLAUDE_CONFIG_DIR="/a/c") as pid:
        come(census, pid)
        monkeypatch.setattr(proc, "LINUX", False)
        other = Census(SIGNATURES, census.registries, census.clock)
        other.look()
        found, known = other.found[pid].process, census.found[pid].process
        assert (found.executable, found.argv, found.cwd, found.parent) == (
            known.executable,
            known.argv,
            known.cwd,
            known.parent,
        )
        assert other.found[pid].home == "/a/c"
        assert other.look() is False or pid in other.found


def test_what_is_gone_or_not_ones_own_is_nothing(tmp_path, monkeypatch):
    with running(tmp_path) as pid:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert facts.read(pid, lambda *_: True) is None
    assert facts.read(pid, lambda *_: True) is None
    assert facts.starttime(pid) is None
