"""A daemon's start and end as a process: signals that come early, and threads that stand in a read."""

import json
import signal
import socket

import pytest

from hub.daemon import StopSignals
from hub.errors import RULES, Code
from tests.waiting import PATIENCE

SIGNALLED = """
import os, signal, sys
import attrs, trio
from pathlib import Path
from hub.cli.local.serve import order_for
from hub.daemon import run_daemon
from supervisors import EventKind

def signal_at(event):
    if (event.kind, event.path) == (EventKind.STARTED, sys.argv[1]):
        os.kill(os.getpid(), signal.SIGTERM)

async def main():
    async with trio.open_nursery() as nursery:
        order = order_for(Path.cwd(), flags={"port": 0}, on_event=signal_at)
        daemon = await nursery.start(run_daemon, attrs.evolve(order, signals=True))
        await daemon.over.wait()
    print("in order")

trio.run(main)
"""


SLOW = """
import sys
import hub.daemon
from hub.cli.group import run

hub.daemon._CALL_TIMEOUT = 0.0
sys.exit(run(["daemon", "--port", "0"]))
"""

FAULTY = """
import sys
from hub.cli.group import run
from hub.io.events.store import EventStore

def odd(path):
    error = ValueError("an odd fault")
    raise error from error

EventStore.open = odd
sys.exit(run(["daemon", "--port", "0"]))
"""


@pytest.fixture
def made(made):
    made.script("demo-first", {"done": "nothing to do"})
    made.configure()
    return made


@pytest.mark.parametrize("member", ["root/audit", "root/front"])
def test_a_signal_while_the_daemon_starts_is_an_ordered_stop(made, member):
    """Whoever hears its first answer may stop it, before it has announced itself: the signal ended it, with its lock
    file and its announcement left behind."""
    done = made.python(SIGNALLED, member)
    assert (done.returncode, done.stdout) == (0, "in order\n"), done.stderr
    assert not (made.hub / "daemon.json").exists()


def test_a_disk_that_is_too_slow_for_the_first_record_is_told(made):
    """It ended as an error within hub, with a group of exceptions and no next step."""
    done = made.python(SLOW)
    assert done.returncode == RULES[Code.TIMEOUT].exit
    assert "The audit log has not taken its first record within 0 s." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_start_that_fails_by_an_unforeseen_error_ends(made):
    """One that was its own cause: the search for a coded error behind it went round for ever."""
    done = made.python(FAULTY)
    assert done.returncode == RULES[Code.INTERNAL].exit
    assert "an odd fault" in done.stderr


def test_a_thread_that_stands_in_a_read_does_not_keep_the_daemon_or_make_it_abort(made):
    """A server that was asked for a quota and says nothing: its thread is left behind, and Python finalizes around it."""
    login = made.root.parent / "login" / ".credentials.json"
    login.parent.mkdir()
    login.write_text(json.dumps({"claudeAiOauth": {"accessToken": "t-1"}}))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE)
        made.configure(
            "[providers.claude]\nenabled = true\nquotaEndpoint = true\n"
            f'quotaUrl = "http://127.0.0.1:{silent.getsockname()[1]}"\n'
            f'[[providers.claude.accounts]]\nlabel = "work"\nconfigDir = "{login.parent}"\n'
        )
        made.start()
        connection, _ = silent.accept()
        with connection:
            assert b"/api/oauth/usage" in connection.recv(1 << 16)
            assert made.stop() == 0
    told = (made.root.parent / "daemon.log").read_text()
    assert "hub has stopped in order" in told
    assert "Fatal" not in told


@pytest.mark.parametrize(
    ("told", "at_once"),
    [
        ([(signal.SIGTERM, 0.0), (signal.SIGTERM, 0.001)], [False, False]),
        ([(signal.SIGTERM, 0.0), (signal.SIGTERM, 0.001), (signal.SIGTERM, 3.0)], [False, False, True]),
        ([(signal.SIGTERM, 0.0), (signal.SIGINT, 0.001)], [False, True]),
        ([(signal.SIGTERM, 0.0), (signal.SIGHUP, 0.001), (signal.SIGHUP, 3.0)], [False, False, True]),
        ([(signal.SIGINT, 0.0), (signal.SIGINT, 0.2)], [False, True]),
    ],
)
def test_a_sigterm_that_comes_twice_in_one_breath_is_one(told, at_once):
    """`timeout 1h hub run ...` left at once: it sends SIGTERM to its child, and then to the group that the child is in."""
    signals = StopSignals()
    assert [signals.again(number, now) for number, now in told] == at_once


def test_who_was_started_by_nohup_hears_of_no_closed_terminal():
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may themselves run under nohup
    try:
        assert signal.SIGHUP in StopSignals.meant()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert StopSignals.meant() == [signal.SIGINT, signal.SIGTERM]
    finally:
        signal.signal(signal.SIGHUP, before)
