"""`hub open`: where the page is."""

from __future__ import annotations

import os
import pty
import signal
import sys

import pytest

from hub.client.place import told_by
from tests.faults.harness import project
from tests.hub.cli.command import hub
from tests.waiting import ended


def test_it_says_where_the_page_is_and_that_there_is_none(tmp_path):
    with project(tmp_path) as work:
        work.configure()
        missing = hub("open", "--print", cwd=work.root)
        assert missing.returncode != 0
        assert "hub daemon" in missing.stderr
        work.start()
        assert hub("open", "--print", cwd=work.root).stdout == f"http://127.0.0.1:{work.port}/\n"


@pytest.mark.parametrize("key", ["n", "y"])
def test_on_a_terminal_it_offers_to_start_a_daemon(tmp_path, key):
    with project(tmp_path) as work:
        work.configure("[server]\nport = 0\n")
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(work.root)
            words = [sys.executable, "-m", "hub", "open", "--print"]
            os.execvpe(sys.executable, words, work.environ())
        shown = b""
        while b"Start one in the background?" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, f"{key}\n".encode())
        try:
            while part := os.read(terminal, 1024):
                shown += part
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        there = told_by(work.root)
        try:
            assert (status == 0, there.port is not None) == (key == "y", key == "y"), shown
            assert (f"http://127.0.0.1:{there.port}/".encode() in shown) is (key == "y")
        finally:
            if there.pid:
                os.kill(there.pid, signal.SIGTERM)
                assert ended(there.pid)
