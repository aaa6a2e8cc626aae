"""A command that takes long says what it does, and only to a person: `hub detect` was silent for 15 s on a busy machine."""

import io
import sys
import threading

import pytest

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


def test_of_a_quick_command_nothing_is_heard(monkeypatch):
    seen, known = looked_at(monkeypatch), threading.active_count()
    monkeypatch.setattr(meanwhile, "_LONG", 1000)
    with meanwhile.waiting_for("looking"):
        assert threading.active_count() == known + 1
    until(lambda: threading.active_count() == known, "the timer is gone")
    assert seen.getvalue() == ""


def test_what_comes_after_the_end_is_not_said(monkeypatch):
    seen = looked_at(monkeypatch)
    line = meanwhile._Line("looking")
    line.erase()
    line.show()
    assert seen.getvalue() == ""


def test_a_program_and_a_terminal_that_cannot_take_it_back_hear_nothing(monkeypatch):
    looked_at(monkeypatch)
    known = threading.active_count()
    monkeypatch.setenv("TERM", "dumb")
    with meanwhile.waiting_for("looking"):
        assert threading.active_count() == known
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with meanwhile.waiting_for("looking"):
        assert threading.active_count() == known
