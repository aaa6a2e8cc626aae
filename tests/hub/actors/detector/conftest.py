"""A machine on which nobody works but the test."""

import os

import pytest

from hub.io.processes import facts
from hub.io.runner import proc


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No process is seen that this test has not begun.

    The stores of all agents that run are searched: one of another test's, with a session of the same id that was written
    later, took the place of this test's own; and what it wrote meanwhile was news.
    """
    everybody = facts.pids

    def own():
        parents = {name: str(proc.parent(int(name)) or 0) for name in everybody()}

        def begun_here(name):
            while (name := parents.get(name, "")) != str(os.getpid()):
                if not name:
                    return False
            return True

        return {name for name in parents if begun_here(name)}

    monkeypatch.setattr(facts, "pids", own)
