"""A store that a test opens is closed when the test ends: Python 3.13 warns of a connection that nobody closed."""

import pytest

from hub.io.events.store import EventStore
from hub.io.graph.store import GraphStore


@pytest.fixture(autouse=True)
def stores_are_closed(monkeypatch):
    opened = []
    for kind in (EventStore, GraphStore):

        def connect(self, *args, plain=kind._connect):
            opened.append(self)
            plain(self, *args)

        monkeypatch.setattr(kind, "_connect", connect)
    yield
    for store in opened:
        store.close()
