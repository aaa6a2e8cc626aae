"""No test leaves a socket to the garbage collector.

Owns: the look at what a test has left open, and that what nobody holds any more is told of there and then.
Must not: close anything: a test that forgets a socket fails.

The collector comes when it likes: a socket that one test left would otherwise fail another one, minutes later.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import suppress

import pytest


def open_sockets() -> set[str]:
    """The sockets of this process."""
    found = set()
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208  # of every test, and pathlib takes thrice as long
        with suppress(FileNotFoundError):
            found.add(os.readlink(f"/proc/self/fd/{number}"))  # noqa: PTH115  # as above
    return {name for name in found if name.startswith("socket:")}


@pytest.fixture(autouse=True)
def _no_socket_is_left() -> Iterator[None]:
    """One that a wider fixture holds stays; one that nobody holds is a warning, and so an error, of this test."""
    before = open_sockets()
    yield
    if open_sockets() - before:
        gc.collect()
