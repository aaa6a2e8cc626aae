"""What a scan remembers, and what it must not."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from hub.actors.detector.scanner import Scanner
from hub.api.convert import fields_of, unstructure
from hub.api.detect import Intel
from hub.domain.config.reader import Config
from hub.domain.detection.intel import SessionIntel, Unreadable
from hub.io.files import changed
from hub.io.processes.table import ProcessTable
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.registry import load_all
from tests.hub.io.agents import new_session, register, running, transcript
from tests.hub.providers.stores import REPO, home_of

SESSION = new_session()


@pytest.fixture
def scanner(tmp_path):
    home = tmp_path / "home"
    transcript(home / ".claude", SESSION, tmp_path, "Write a.py")
    return Scanner(tmp_path, load_all(), Config(), env={"HOME": str(home)}, home=str(home))


def seen(scanner):
    return next(one for one in scanner.scan(0.0) if one.id == f"claude:{SESSION}")


def test_a_session_that_could_not_be_read_is_read_at_the_next_scan(scanner, monkeypatch):
    """A read that ran out of its time must not hide the session until it is written again."""
    with monkeypatch.context() as patch:
        patch.setattr(
            stores, "read", lambda hit, *_: SessionIntel(session_id=hit.session_id, alarm="It took too long.")
        )
        assert seen(scanner).kept.intel.alarm == "It took too long."
    assert seen(scanner).kept.intel.initial_prompt == "Write a.py"


def test_no_start_waits_for_the_agents_stores():
    """Eighteen modules with their patterns: a thirtieth of a daemon's start."""
    code = (
        "import sys; from hub.actors.detector.scanner import Scanner; from hub.domain.config.reader import Config;"
        "scanner = Scanner('.', {}, Config());"
        "print([name for name in sys.modules if name.startswith('hub.providers') and name.endswith('.store')]);"
        "scanner.process_table; print('hub.providers.claude.store' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['hub.providers.store']\nTrue\n"


@pytest.mark.parametrize("begun", [False, True], ids=["no session", "a session without a prompt"])
def test_what_an_idle_agent_is_asked_is_seen_at_the_next_glance(tmp_path, monkeypatch, begun):
    """In a folder that is older than the window, of which nothing else tells before the next full walk."""
    home, moment = tmp_path / "home", time.time()
    scanner = Scanner(tmp_path, load_all(), Config(), env={}, home=str(home), clock=lambda: moment)
    log = transcript(home / ".claude", SESSION, tmp_path, "Long ago.")
    os.utime(log, (1, 1))
    with running(tmp_path, cwd=tmp_path) as pid:
        if begun:
            register(home / ".claude", pid, SESSION)
            log.write_text(json.dumps({"type": "mode", "cwd": str(tmp_path)}) + "\n")
        for folder in (log.parent, log.parent.parent, log.parents[2]):
            os.utime(folder, (1, 1))
        (found,) = [one for one in scanner.scan(moment) if pid in one.pids]
        assert (found.prompt, found.choice.session_id) == ("", SESSION if begun else "")
        monkeypatch.setattr(
            ProcessTable, "look", lambda *_, **__: False
        )  # of processes nothing is to be learned
        monkeypatch.setattr(changed, "_TICK_NS", 0)
        scanner.glance()
        assert not scanner.glance()
        transcript(home / ".claude", SESSION if begun else new_session(), tmp_path, "Write a.py")
        assert scanner.glance()


@pytest.mark.parametrize("seconds", [31, -31, -86_400])
def test_everything_is_walked_anew_after_a_while_also_by_a_clock_that_was_set_back(
    tmp_path, monkeypatch, seconds
):
    moments = [1_795_781_000.0]
    home = str(tmp_path / "home")
    scanner = Scanner(tmp_path, load_all(), Config(), env={}, home=home, clock=lambda: moments[-1])
    monkeypatch.setattr(ProcessTable, "look", lambda *_, **__: False)
    scanner.scan(0.0)
    monkeypatch.setattr(scanner._repoll, "changed", lambda: False)
    assert not scanner.glance()
    moments.append(moments[0] + seconds)
    assert scanner.glance()


def test_a_session_that_has_not_changed_is_not_read_again(scanner, monkeypatch):
    before = seen(scanner)
    monkeypatch.setattr(stores, "read", lambda hit, *_: pytest.fail(f"read {hit.path}"))
    assert seen(scanner) == before


def test_a_store_that_is_not_searched_to_its_end_is_told_of(scanner, tmp_path, monkeypatch):
    """Sessions that are missing for want of time must not look like sessions that do not exist."""
    place = tmp_path / "home" / ".codex"

    def walk(files, place_, since_ns):
        if place_.root == str(place):
            raise Unreadable(f"{place} took too long to search.")
        return whole(files, place_, since_ns)

    whole = StoreFiles.walk
    with monkeypatch.context() as patch:
        patch.setattr(StoreFiles, "walk", walk)
        [session, gap] = scanner.scan(0.0)
    assert session.id == f"claude:{SESSION}"
    told = unstructure(scanner.shown(gap))
    assert (told["provider"], told["alarm"]) == ("codex", f"{place} took too long to search.")
    assert (told["running"], told["adoptable"]) == (False, False)
    assert {*told["session"]} == {*fields_of(Intel)}, "specification, Detected agent: `session` is an object"
    assert not any(told["session"][name] for name in told["session"] if name != "tokensExact")
    assert str(place) not in told["id"]
    assert [one.id for one in scanner.scan(0.0)] == [session.id]


def test_a_folder_that_becomes_a_repository_is_in_no_project_only_before(scanner, tmp_path):
    assert not scanner.inside(str(tmp_path))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert scanner.inside(str(tmp_path))


def test_agents_that_hub_only_detects_are_found_by_their_stores(tmp_path):
    """Each with the name people know it by, and with what its session tells."""
    home = tmp_path / "all"
    for name in stores.DETECTED:
        shutil.copytree(home_of(name, "rich", tmp_path / name), home, dirs_exist_ok=True)
    scanner = Scanner(home / REPO, load_all(), Config(), env={"HOME": str(home)}, home=str(home))
    told = [unstructure(scanner.shown(one)) for one in scanner.scan(0.0)]
    assert {one["displayName"] for one in told} == set(stores.DETECTED.values())
    assert all("hello.txt" in one["session"]["initialPrompt"] for one in told)
    assert {one["account"] for one in told if one["provider"] == "pi"} == {str(home / ".pi" / "agent")}


@pytest.mark.parametrize(
    ("provider", "variable", "moved"),
    [
        ("pi", "PI_CODING_AGENT_DIR", ".pi/agent"),
        ("kimi", "KIMI_CODE_HOME", ".kimi-code"),
        ("cursor", "CURSOR_DATA_DIR", ".cursor"),
        ("amp", "XDG_DATA_HOME", ".local/share"),
        ("roo", "XDG_CONFIG_HOME", ".config"),
    ],
)
def test_a_variable_moves_the_store_of_an_agent_that_hub_only_detects(tmp_path, provider, variable, moved):
    """What moves a store is asked of the store: hub knows no process of such an agent."""
    home = home_of(provider, "rich", tmp_path)
    place = (home / moved).rename(tmp_path / "elsewhere")
    env = {"HOME": str(home), variable: str(place)}
    (found,) = Scanner(tmp_path, load_all(), Config(), env=env, home=str(home)).scan(0.0)
    assert found.provider == provider
