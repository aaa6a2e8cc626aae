"""What a test leaves behind here is put right: stores that are open, failpoints that are armed."""

import os

import pytest

from hub.io import failpoints
from hub.io.events.store import EventStore
from hub.io.graph.store import GraphStore


@pytest.fixture(autouse=True)
def disarmed():
    yield
    failpoints.arm("")


@pytest.fixture
def open_umask():
    """What is made here is open to all, unless whoever makes it says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def leak(monkeypatch):
    """A file of hub's own that a program would inherit, and secrets in hub's environment."""
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "HUB_SIGNING_KEY",
        "HTTPS_PROXY",
        "LD_LIBRARY_PATH",
        "SSH_AUTH_SOCK",
    ):
        monkeypatch.setenv(name, "leak")
    file = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(file, True)
    yield file
    os.close(file)


@pytest.fixture(autouse=True)
def stores_are_closed(monkeypatch):
    """Python 3.13 warns of a connection that nobody closed."""
    opened = []
    for kind in (EventStore, GraphStore):

        def connect(self, *args, plain=kind._connect):
            opened.append(self)
            plain(self, *args)

        monkeypatch.setattr(kind, "_connect", connect)
    yield
    for store in opened:
        store.close()
