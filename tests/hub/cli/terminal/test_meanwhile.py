"""A command that takes long says what it does, and only to a person: `hub detect` was silent for 15 s on a busy machine."""

import io
import sys
import threading

import pytest
from rich.cells import cell_len

from hub.cli.terminal import meanwhile
from tests.waiting import until


class Terminal(io.StringIO):
    """Somebody looks on."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(meanwhile, "_LONG", 0)
    monkeypatch.setenv("TERM", "xterm")


def looked_at(monkeypatch):
    """Standard error is a terminal from here on."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    return terminal


def test_a_person_is_told_what_takes_so_long_until_it_is_over(monkeypatch):
    seen = looked_at(monkeypatch)
    with meanwhile.waiting_for("looking"):
        until(lambda: seen.getvalue() == "looking ...", "it is said")
    assert seen.getvalue() == "looking ...\r\x1b[K"


@pytest.fixture
def timers(monkeypatch):
    """The timers that were made: other threads come and go as they like."""
    made = []

    def timer(*given):
        made.append(threading.Timer(*given))
        return made[-1]

    monkeypatch.setattr(meanwhile, "Timer", timer)
    return made


def test_of_a_quick_command_nothing_is_heard(monkeypatch, timers):
    seen = looked_at(monkeypatch)
    monkeypatch.setattr(meanwhile, "_LONG", 1000)
    with meanwhile.waiting_for("looking"):
        (timer,) = timers
        assert timer.is_alive()
    until(lambda: not timer.is_alive(), "the timer is gone")
    assert seen.getvalue() == ""


@pytest.mark.parametrize("words", ["detect " * 20, "/a/very/long/path" * 9, "\u6587" * 60])
def test_what_is_wider_than_the_terminal_is_cut(monkeypatch, words):
    """Only the last of several lines was taken back: the others stayed above the result."""
    seen = looked_at(monkeypatch)
    monkeypatch.setattr(meanwhile, "columns", lambda _: 40)
    meanwhile._Line(words).show()
    assert 38 <= cell_len(seen.getvalue()) <= 39
    assert seen.getvalue().endswith(" ...")


def test_what_fits_is_said_whole(monkeypatch):
    seen = looked_at(monkeypatch)
    monkeypatch.setattr(meanwhile, "columns", lambda _: 40)
    meanwhile._Line("x" * 35).show()
    assert seen.getvalue() == "x" * 35 + " ..."


def test_a_folder_s_name_colours_nothing(monkeypatch):
    seen = looked_at(monkeypatch)
    meanwhile._Line("starting a daemon for /p/\x1b[31mred\nline").show()
    assert seen.getvalue() == "starting a daemon for /p/red line ..."


def test_what_comes_after_the_end_is_not_said(monkeypatch):
    seen = looked_at(monkeypatch)
    line = meanwhile._Line("looking")
    line.erase()
    line.show()
    assert seen.getvalue() == ""


def test_a_program_and_a_terminal_that_cannot_take_it_back_hear_nothing(monkeypatch, timers):
    looked_at(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    with meanwhile.waiting_for("looking"):
        pass
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with meanwhile.waiting_for("looking"):
        pass
    assert timers == []
