"""Work shared out among processes: each piece once, each answer heard, no failure unheard.

In a process of its own: this one may have threads.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hub.io.shares import processors

_SUM = """
import sys
from hub.io.shares import shared
mine = []
others = shared(range(int(sys.argv[1])), mine.extend, lambda: " ".join(map(str, mine)).encode(), int(sys.argv[2]))
print(len(others), *mine, *(int(word) for told in others for word in told.split()))
"""
_FAILING = """
import os
from hub.io.shares import BrokenShareError, shared
here = os.getpid()
def told():
    assert os.getpid() == here
    return b""
def act(pieces):
    list(pieces)
    raise ValueError if os.getpid() == here else LookupError
for work in (list, act):
    try:
        shared(range(9), work, told, 3)
    except (BrokenShareError, ValueError) as error:
        print(type(error).__name__)
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("nobody is left")
"""


def said(script: str, *args: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(("pieces", "processes"), [(0, 3), (1, 3), (5, 1), (1000, 3)])
def test_each_piece_is_taken_once(pieces, processes):
    """More pieces than a byte can name: some share a name."""
    others, *taken = map(int, said(_SUM, pieces, processes))
    assert others == max(0, min(processes, pieces) - 1)
    assert sorted(taken) == list(range(pieces))


def test_a_process_that_fails_is_no_process_without_an_answer():
    """What it took would be missing in the sum, and nobody would know. None is left behind, whoever failed."""
    assert said(_FAILING) == ["BrokenShareError", "ValueError", "nobody", "is", "left"]


def test_no_more_processors_than_there_are_and_no_more_than_wanted():
    assert processors(1) == 1
    assert 1 <= processors(10_000) <= (os.cpu_count() or 1)
