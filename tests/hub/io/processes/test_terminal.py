"""Terminals that are really opened: tmux, and one of the user's own choice."""

import os
import shutil
import stat
import subprocess
import time

import pytest
import trio

from hub.domain.terminal import TerminalCommand
from hub.errors import Code
from hub.io.processes.terminal import open_terminal
from tests.refusals import refuses

PATIENCE = 30.0


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "jobs" / "job-1"


@pytest.fixture(autouse=True)
def _headless(monkeypatch):
    for name in ("TERMINAL", "TMUX", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def terminal(tmp_path):
    """A terminal of the user's own: a program that runs what it is given, somewhere else."""
    path = tmp_path / "term"
    path.write_text('#!/bin/sh\n(setsid "$@" < /dev/null > /dev/null 2>&1 &)\n')
    path.chmod(0o700)
    return [str(path)]


@pytest.fixture
def tmux(tmp_path, monkeypatch):
    """A tmux server of the test's own, and what says that one is inside it."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed")
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    subprocess.run([program, "-f", "/dev/null", "new-session", "-d", "sh"], check=True)
    found = subprocess.run(
        [program, "display-message", "-p", "#{socket_path},#{pid},0"],
        check=True,
        capture_output=True,
        text=True,
    )
    monkeypatch.setenv("TMUX", found.stdout.strip())
    yield program
    subprocess.run([program, "kill-server"], check=True)


async def test_a_headless_machine_gets_the_command_to_type(folder):
    with refuses(Code.NO_TERMINAL) as caught:
        await open_terminal(TerminalCommand(("claude", "login"), {"CLAUDE_CONFIG_DIR": "/x"}), folder, ())
    assert "CLAUDE_CONFIG_DIR=/x claude login" in caught.value.detail
    assert caught.value.extra["command"] == "CLAUDE_CONFIG_DIR=/x claude login"
    assert not folder.exists()


async def test_a_command_runs_in_a_window_of_tmux(folder, tmux, tmp_path):
    command = TerminalCommand(("sh", "-c", "tty > $SEEN; exit 3"), {"SEEN": str(tmp_path / "seen it")})
    opened = await open_terminal(command, folder, ())
    assert opened.program == "tmux"
    assert await opened.status(PATIENCE) == 3
    assert (tmp_path / "seen it").read_text().startswith("/dev/"), "a login needs a real terminal"
    windows = await trio.run_process([tmux, "list-windows"], capture_stdout=True)
    assert len(windows.stdout.splitlines()) == 2, "it stays open until the user has read it"


async def test_the_terminal_of_the_configuration_is_used(folder, terminal):
    opened = await open_terminal(TerminalCommand(("sh", "-c", "echo seen")), folder, terminal, keep=True)
    assert await opened.status(PATIENCE) == 0
    assert b"seen" in opened.output()
    for path in (folder, folder.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    opened.clear()
    assert not folder.exists()


async def test_a_terminal_that_cannot_be_opened_is_none(folder, tmp_path):
    """One that is not installed, one that fails, one that is no program."""
    bad = tmp_path / "bad"
    bad.write_text("#!/bin/sh\nexit 1\n")
    bad.chmod(0o700)
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere\n")
    broken.chmod(0o700)
    for program in ("/not/there", str(bad), str(broken)):
        with refuses(Code.NO_TERMINAL):
            await open_terminal(TerminalCommand(("true",)), folder, [program])


async def test_hubs_own_secrets_are_not_in_a_terminal(folder, terminal, monkeypatch, tmp_path):
    monkeypatch.setenv("HUB_SIGNING_KEY", "a" * 64)
    opened = await open_terminal(TerminalCommand(("env",)), folder, terminal, keep=True)
    assert await opened.status(PATIENCE) == 0
    assert b"PATH=" in opened.output()
    assert b"HUB_" not in opened.output()


async def test_a_terminal_that_is_closed_is_told(folder, tmux, tmp_path):
    """The user closes the window: nothing in it can say so."""
    opened = await open_terminal(
        TerminalCommand(("sh", "-c", "touch $UP; sleep 60"), {"UP": str(tmp_path / "up")}), folder, ()
    )
    with trio.fail_after(PATIENCE):
        while not (tmp_path / "up").exists():
            await trio.lowlevel.checkpoint()
    await trio.run_process([tmux, "kill-window"])
    assert await opened.status(PATIENCE) == 129


async def test_no_word_within_the_patience_is_no_status(folder, terminal):
    opened = await open_terminal(TerminalCommand(("sleep", "5")), folder, terminal)
    assert await opened.status(0) is None


async def test_what_dead_daemons_left_is_taken_away(folder, terminal):
    done, old, young = (folder.parent / name for name in ("done", "old", "young"))
    for path in (done, old, young):
        path.mkdir(parents=True)
    (done / "status").write_text("0")
    os.utime(old, (time.time() - 90_000,) * 2)
    await open_terminal(TerminalCommand(("true",)), folder, terminal)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["job-1", "young"]
