"""The rule of `tests/left.py` holds for every test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = """
import gc, socket, sqlite3
from pathlib import Path
from tests.left import _nothing_is_left

def test_that_leaves_one():
    gc.disable()  # nobody comes by chance
    round = [{opened}]
    round.append(round)

def test_that_drops_one():
    {opened}

def test_that_comes_next():
    with open(__file__):
        pass
"""


@pytest.mark.parametrize(
    ("opened", "told"),
    [
        ('socket.create_server(("127.0.0.1", 0))', "unclosed <socket.socket"),
        ('Path("file").open("w")', "unclosed file <"),
        ('sqlite3.connect("some.db")', "unclosed database in <"),
        ('sqlite3.connect(":memory:")', "unclosed database in <"),
    ],
)
def test_what_is_left_open_is_an_error_of_the_test_that_left_it(
    tmp_path: Path, opened: str, told: str
) -> None:
    """Once a test failed in the middle of reading JSON, for a socket of another one's; later two, for their databases."""
    (tmp_path / "test_them.py").write_text(TESTS.format(opened=opened))
    command = (sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider")
    done = subprocess.run(
        [*command, "--rootdir", tmp_path, "-o", "addopts=", "-o", f"pythonpath={ROOT}", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ERROR test_them.py::test_that_leaves_one" in done.stdout, done.stdout
    assert re.search("(ERROR|FAILED) test_them.py::test_that_drops_one", done.stdout)
    assert "::test_that_comes_next" not in done.stdout
    assert done.stdout.count(told) >= 2
