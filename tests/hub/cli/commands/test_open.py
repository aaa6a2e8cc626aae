"""`hub open`: where the page is."""

import os
import signal

import pytest

from hub.client.place import told_by
from tests.faults.harness import project
from tests.hub.cli.command import hub, typed
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
        asks = "Start one in the background?"
        status, shown = typed("open", "--print", answer=key, cwd=work.root, env=work.environ(), asks=asks)
        there = told_by(work.root)
        try:
            assert (status == 0, there.port is not None) == (key == "y", key == "y"), shown
            assert (f"http://127.0.0.1:{there.port}/" in shown) is (key == "y")
        finally:
            if there.pid:
                os.kill(there.pid, signal.SIGTERM)
                assert ended(there.pid)
