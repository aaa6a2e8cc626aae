"""Keys from a terminal, and the terminal as it was."""

import os
import pty
import signal
import subprocess
import sys
import termios
from contextlib import aclosing

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from hub.cli.terminal.keys import Key, Keyboard, Parser


def read(*pieces):
    parser = Parser()
    return [key for piece in pieces for key in parser.keys(piece)]


def test_letters_are_keys_and_arrows_are_none():
    assert read("y") == [Key("y")]
    assert read("aü\r") == [Key("a"), Key("ü"), Key("\r")]
    assert read("\x1b[A", "\x1bOB", "\x1b[1;5C", "\x1by", "n") == [Key("n")]
    assert read("\x1b") == [Key("\x1b")], "Escape alone is one"


def test_what_is_pasted_is_no_key():
    """A text with a y in it must not allow anything."""
    assert read("\x1b[200~yes\ny\x1b[201~n") == [Key("yes\ny", pasted=True), Key("n")]


@given(st.text(alphabet="yna\r\n é", max_size=30), st.integers(0, 40))
def test_also_in_two_pieces(text, cut):
    """A terminal hands over some thousand bytes at a time."""
    whole = f"\x1b[200~{text}\x1b[201~"
    assert read(whole[:cut], whole[cut:]) == [Key(text, pasted=True)] or cut == 1  # Escape alone is a key


@pytest.fixture
def tty(monkeypatch):
    """A terminal, in front of which this process is."""
    master, slave = pty.openpty()
    monkeypatch.setattr(Keyboard, "in_front", True)
    yield master, slave
    os.close(master)
    os.close(slave)


def test_the_mode_is_given_back(tty, capfd):
    _, slave = tty
    before = termios.tcgetattr(slave)
    keyboard = Keyboard(slave)
    keyboard.enter()
    keyboard.enter()
    during = termios.tcgetattr(slave)[3]
    assert not during & (termios.ICANON | termios.ECHO)
    assert during & termios.ISIG, "Ctrl-C stays a signal"
    keyboard.leave()
    keyboard.leave()
    assert termios.tcgetattr(slave) == before
    assert capfd.readouterr().err == "\x1b[?2004h\x1b[?2004l"


async def test_ctrl_backslash_is_a_key_that_does_nothing(tty):
    """As a signal it would end the process in the midst, and leave a terminal that shows nothing of what is typed."""
    master, slave = tty
    keyboard = Keyboard(slave)
    keyboard.enter()
    os.write(master, b"\x1c")
    with trio.fail_after(10):
        async with aclosing(keyboard.keys()) as keys:
            assert await anext(keys) == [Key("\x1c")]
    keyboard.leave()
    assert termios.tcgetattr(slave)[6][termios.VQUIT] == b"\x1c"


async def test_ctrl_z_comes_after_the_keys_that_were_pressed_before_it(tty, monkeypatch):
    """The terminal threw away an Escape that had not been read yet, and a reply was still being typed after `fg`."""
    master, slave = tty
    told = []
    monkeypatch.setattr(os, "killpg", lambda group, number: told.append((group, number)))
    keyboard = Keyboard(slave)
    keyboard.enter()
    os.write(master, b"\x1b\x1ad")
    with trio.fail_after(10):
        async with aclosing(keyboard.keys()) as keys:
            assert (await anext(keys), told) == ([Key("\x1b")], [])
            os.write(master, b"\x1b[200~a\x1ab\x1b[201~")
            assert await anext(keys) == [Key("a\x1ab", pasted=True)], "pasted, it is a letter like others"
    keyboard.leave()
    assert told == [(0, signal.SIGTSTP)], "and what was read behind it is no key: it was for the shell"


LONELY = """
import os, signal, trio
from hub.cli.terminal.keys import Keyboard

class Shown(Keyboard):
    in_front = True
    def enter(self): pass

async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Shown(0).suspended, lambda: print("away"), lambda: os._exit(7))
        await trio.testing.wait_all_tasks_blocked()
        os.kill(0, signal.SIGTSTP)

import trio.testing
trio.run(main)
"""


def test_ctrl_z_stops_nobody_whom_no_shell_could_wake():
    """The only program of a terminal, as in a container, stood still for ever."""
    command = [sys.executable, "-c", LONELY]
    assert subprocess.run(command, timeout=60, start_new_session=True, check=False).returncode == 7


async def test_keys_come_at_once_and_end_with_the_terminal(tty):
    master, slave = tty
    keyboard = Keyboard(slave)
    keyboard.enter()
    os.write(master, "ü".encode()[:1])
    found = []
    with trio.fail_after(10):
        async with aclosing(keyboard.keys()) as keys:
            async for pressed in keys:
                found += pressed
                if found:
                    break
                os.write(master, "ü".encode()[1:])
    keyboard.leave()
    assert found == [Key("ü")]


async def test_what_was_pressed_and_not_read_can_be_thrown_away(tty):
    """A key that was meant for the question before must not answer the next one."""
    master, slave = tty
    keyboard = Keyboard(slave)
    keyboard.enter()
    os.write(master, b"y")
    with trio.fail_after(10):
        await trio.lowlevel.wait_readable(slave)
        keyboard.unread()
        os.write(master, b"n")
        async with aclosing(keyboard.keys()) as keys:
            assert await anext(keys) == [Key("n")]
    keyboard.leave()


def test_a_terminal_that_is_none_is_not_in_front():
    reading, writing = os.pipe()
    assert not Keyboard(reading).in_front
    os.close(reading)
    os.close(writing)
