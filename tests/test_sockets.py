"""The rule of `tests/sockets.py` holds for every test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = """
import gc, socket
from tests.sockets import _no_socket_is_left

def test_that_leaves_one():
    gc.disable()  # nobody comes by chance
    round = [socket.create_server(("127.0.0.1", 0))]
    round.append(round)

def test_that_comes_next():
    pass
"""


def test_a_socket_that_is_left_is_an_error_of_the_test_that_left_it(tmp_path: Path) -> None:
    """Once a test failed in the middle of reading JSON, for a socket of another one's."""
    (tmp_path / "test_them.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, "-o", "addopts=", "-o", f"pythonpath={ROOT}", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ERROR test_them.py::test_that_leaves_one" in done.stdout, done.stdout
    assert "unclosed <socket.socket" in done.stdout
    assert "2 passed, 1 error" in done.stdout
