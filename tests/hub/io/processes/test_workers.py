"""Work shared out among processes: each piece once, each answer heard, no failure unheard.

In a process of its own: this one may have threads.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hub.io.processes.workers import processors

_SUM = """
import sys
from hub.io.processes.workers import Crew
def act(pieces):
    return b"x" * 200_000 + " ".join(map(str, pieces)).encode()
with Crew(range(int(sys.argv[1])), act, int(sys.argv[2])) as crew:
    told = crew.told()
    assert crew.told() == []
print(len(told), *(one.replace(b"x", b"").decode() for one in told))
"""
_FAILING = """
import os, sys
from hub.io.processes.workers import BrokenShareError, Crew
def fails(pieces):
    list(pieces)
    raise LookupError
def killed(pieces):
    os.kill(os.getpid(), 9)
for act in (fails, killed):
    try:
        with Crew(range(9), act, 3) as crew:
            crew.told()
    except BrokenShareError as error:
        print(type(error).__name__)
try:
    with Crew(range(9), lambda _: os.read(os.pipe()[0], 1), 3) as crew:
        raise ValueError
except ValueError as error:
    print(type(error).__name__)
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("nobody is left")
"""
_ORPHANED = """
import os
from hub.io.processes.workers import Crew
def act(pieces):
    return b"x" * 1_000_000
with Crew(range(9), act, 2) as first, Crew(range(9), act, 2) as second:
    os._exit(0)
"""


def said(script: str, *args: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(("pieces", "processes"), [(0, 3), (1, 3), (5, 1), (1000, 3)])
def test_each_piece_is_taken_once(pieces, processes):
    """More pieces than a byte can name: some share a name. Answers are longer than any pipe holds."""
    many, *told = said(_SUM, pieces, processes)
    assert int(many) == min(pieces, processes)
    assert sorted(map(int, told)) == [*range(pieces)]


def test_a_process_that_fails_is_no_process_without_an_answer():
    """What it took would be missing in the sum, and nobody would know. None is left behind, whoever failed."""
    assert said(_FAILING) == ["BrokenShareError", "BrokenShareError", "ValueError", "nobody", "is", "left"]


def test_processes_end_with_the_one_that_made_them():
    """They would wait for a reader for ever: standard output, which they hold too, would never be at its end."""
    assert said(_ORPHANED) == []


def test_no_more_processors_than_there_are_and_no_more_than_wanted():
    assert processors(1) == 1
    assert 1 <= processors(10_000) <= (os.cpu_count() or 1)
