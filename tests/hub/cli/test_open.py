"""`hub open`: where the page is."""

from __future__ import annotations

from tests.faults.harness import project
from tests.hub.cli.command import hub


def test_it_says_where_the_page_is_and_that_there_is_none(tmp_path):
    with project(tmp_path) as work:
        work.configure()
        missing = hub("open", "--print", cwd=work.root)
        assert missing.returncode != 0
        assert "hub daemon" in missing.stderr
        work.start()
        assert hub("open", "--print", cwd=work.root).stdout == f"http://127.0.0.1:{work.port}/\n"
