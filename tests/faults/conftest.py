"""Projects whose agents put what they do on an outside record."""

import pytest

from tests.faults.harness import project, write
from tests.waiting import Gate


@pytest.fixture
def made(tmp_path):
    """A project; its outside record is `tmp_path / "oracle"`."""
    (tmp_path / "oracle").touch()
    with project(tmp_path) as found:
        yield found


@pytest.fixture
def oracle(tmp_path):
    """The outside record."""
    return tmp_path / "oracle"


@pytest.fixture
def gate(tmp_path):
    """Where an agent waits until the test lets it go on."""
    with Gate(tmp_path / "gate") as found:
        yield found


@pytest.fixture
def work(tmp_path):
    """A project whose first agent hits its limit and whose second finishes; both on the outside record."""
    with project(tmp_path) as made:
        oracle = tmp_path / "oracle"
        oracle.touch()
        first = [write(oracle, f"a{n}.txt", f"first {n}") for n in range(4)]
        second = [write(oracle, f"b{n}.txt", f"second {n}") for n in range(3)]
        made.script("demo-first", {"say": "working"}, *first, {"sleep": 0.1}, {"limit": {"resetsIn": 3600}})
        made.script("demo-second", {"say": "going on"}, *second, {"done": "finished"})
        made.configure()
        yield made, oracle
