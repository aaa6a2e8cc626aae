"""What a test leaves behind here is put right: stores that are open, failpoints that are armed."""

import pytest

from hub.io import failpoints
from hub.io.events.store import EventStore
from hub.io.graph.store import GraphStore


@pytest.fixture(autouse=True)
def disarmed():
    yield
    failpoints.disarm()


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
