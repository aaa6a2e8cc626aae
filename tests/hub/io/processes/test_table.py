"""The census sees what comes and goes, reads only what is new, and is not deceived by numbers and names."""

import os
import subprocess
from contextlib import contextmanager

import attrs
import pytest

from hub.domain.detection.processes import ProcessEvidence
from hub.io.processes import facts
from hub.io.processes.table import ProcessTable
from hub.io.runner import proc
from hub.io.stores.registries import Registries
from hub.providers.registry import signatures
from tests.clock import Clock
from tests.hub.io.agents import PLAIN, program, register, running
from tests.waiting import until

SIGNATURES = signatures()
SESSION = "01a1fe0c-897b-7642-9087-e765bd0c6561"


@pytest.fixture
def process_table(tmp_path):
    return ProcessTable(SIGNATURES, Registries(SIGNATURES, {"HOME": str(tmp_path / "home")}), Clock())


@contextmanager
def started(argv, cwd, **pipes):
    """A program with little in its environment, for the length of the block."""
    with subprocess.Popen(argv, cwd=cwd, env=PLAIN, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def mine(process_table, pid):
    """The agent of this pid; other tests may run agents beside."""
    return next((agent for agent in process_table.agents() if agent.key[0] == pid), None)


def come(process_table, pid):
    """The agent, once it is seen whole: for a moment after its exec a process has no environment yet.

    The time goes on between two looks. Who falls between its fork and its exec at a census's very first look is seen when
    everything is looked at anew, and with a clock that stood still that time never came.
    """

    def whole():
        process_table.look()
        found = mine(process_table, pid)
        if found is not None and found.head.process.env:
            return found
        process_table.clock.now += 30
        return None

    return until(whole, "it is found")


def test_an_agent_is_seen_when_it_comes_and_when_it_goes(tmp_path, process_table):
    process_table.look()
    with running(tmp_path, CLAUDE_CONFIG_DIR="/a/c") as pid:
        found = come(process_table, pid)
        process = found.head.process
        assert (found.head.provider, found.best.evidence, found.best.home) == (
            "claude",
            ProcessEvidence.EXECUTABLE,
            "/a/c",
        )
        assert (process.cwd, process.parent, process.run_id) == (str(tmp_path), os.getpid(), "")
        assert process.starttime == proc.starttime(pid)
        assert abs(process.began - tmp_path.stat().st_mtime) < 30
    assert process_table.look()
    assert mine(process_table, pid) is None


def test_a_second_look_reads_nothing(tmp_path, process_table, monkeypatch):
    """0.1 ms: the promise that lets the daemon look all the time."""
    with running(tmp_path) as pid:
        come(process_table, pid)
        process_table.clock.now += 10
        process_table.look()
        monkeypatch.setattr(facts, "read", lambda pid, _: pytest.fail(f"read {pid}") if pid == it else None)
        it = pid
        process_table.look()
        process_table.clock.now += 10
        process_table.look()
        assert mine(process_table, pid) is not None


def test_a_process_may_become_an_agent_after_it_was_seen(tmp_path, process_table):
    """Between fork and exec it is still its shell."""
    process_table.look()
    script = 'read line; exec "$0" 1000'
    argv = ["/bin/sh", "-c", script, str(program(tmp_path))]
    with started(argv, tmp_path, stdin=subprocess.PIPE) as process:
        process_table.look()
        assert mine(process_table, process.pid) is None
        process.stdin.write(b"\n")
        process.stdin.flush()
        come(process_table, process.pid)


def test_a_number_that_was_given_away_is_somebody_new(tmp_path, process_table):
    with running(tmp_path) as pid:
        come(process_table, pid)
        found = process_table.found[pid]
        process_table.found[pid] = attrs.evolve(found, process=attrs.evolve(found.process, starttime=1))
        assert process_table.look()
        assert process_table.found[pid] == found


def test_the_registry_knows_an_agent_whatever_its_program_is_called(tmp_path, process_table):
    """Claude's own file, with the start time of the process, is enough; a file of an earlier process is nothing."""
    home = tmp_path / "home" / ".claude"
    with running(tmp_path, name="renamed") as pid, running(tmp_path, name="other") as other:
        process_table.look()
        assert mine(process_table, pid) is None
        register(home, pid, SESSION)
        register(home, other, SESSION, procStart="1")
        (home / "sessions" / "77.json").write_text("{half")
        (home / "sessions" / "notes.json").write_text("{}")
        assert process_table.look()
        found = mine(process_table, pid)
        assert (found.best.evidence, found.best.session_id) == (ProcessEvidence.REGISTRY, SESSION)
        assert mine(process_table, other) is None


def test_the_registry_of_an_agents_own_account_is_read_too(tmp_path, process_table):
    home = tmp_path / "account"
    with running(tmp_path, CLAUDE_CONFIG_DIR=str(home)) as pid:
        come(process_table, pid)
        register(home, pid, SESSION)
        process_table.look(deep=True)
        found = mine(process_table, pid)
        assert found.best.session_id == SESSION
        (home / "sessions" / f"{pid}.json").write_text("{}")
        process_table.look(deep=True)
        again = mine(process_table, pid)
        assert again.best.session_id == ""


def test_an_agent_and_the_registry_it_brings_are_read_in_one_look(tmp_path, process_table):
    """The account of a real agent was unknown until it was seen: the first `hub detect` told its session as likely only."""
    home = tmp_path / "account"
    with running(tmp_path, CLAUDE_CONFIG_DIR=str(home)) as pid:
        register(home, pid, SESSION)
        until(lambda: facts.read(pid, lambda *_: True).env, "it has its environment")
        process_table.look()
        found = mine(process_table, pid)
        assert (found.best.evidence, found.best.session_id) == (ProcessEvidence.REGISTRY, SESSION)


def test_hubs_own_agents_carry_their_run(tmp_path, process_table):
    with running(tmp_path, HUB_RUN_ID="d-1") as pid:
        found = come(process_table, pid)
        assert found.head.process.run_id == "d-1"


def test_a_script_is_known_by_where_its_link_leads(tmp_path, process_table):
    """npm's `.bin/gemini` is a link into the package."""
    real = tmp_path / "node_modules" / "@google" / "gemini-cli" / "bundle" / "gemini.py"
    real.parent.mkdir(parents=True)
    real.write_text("import time\ntime.sleep(1000)\n")
    link = tmp_path / "node_modules" / "gemini"
    link.symlink_to(real)
    python = os.path.realpath("/proc/self/exe")
    with started([python, "-S", "node_modules/gemini"], tmp_path) as process:
        found = come(process_table, process.pid)
        assert (found.head.provider, found.best.evidence) == ("gemini", ProcessEvidence.SCRIPT)


def test_an_open_store_is_seen(tmp_path, process_table):
    """As Codex holds its rollout open."""
    rollout = tmp_path / f"codex/sessions/2026/11/21/rollout-2026-11-21T03-01-09-{SESSION}.jsonl"
    rollout.parent.mkdir(parents=True)
    with (
        rollout.open("w") as file,
        started([str(program(tmp_path, "codex")), "1000"], tmp_path, stdout=file) as process,
    ):
        found = come(process_table, process.pid)
        assert (found.best.home, found.best.session_id) == (str(tmp_path / "codex"), SESSION)


def test_what_is_gone_or_not_ones_own_is_nothing(tmp_path, monkeypatch):
    with running(tmp_path) as pid:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert facts.read(pid, lambda *_: True) is None
    assert facts.read(pid, lambda *_: True) is None
