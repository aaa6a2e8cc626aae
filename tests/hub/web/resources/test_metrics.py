"""`GET /metrics`: the exposition format, by the rules of Prometheus' own page, over a whole daemon."""

import re

import attrs

from hub.messages.session import GetStatus
from hub.web.resources import metrics
from hub.web.resources.metrics import Metric, text
from supervisors import ActorDied, NodeInfo
from tests.hub.web.fake import Fake, running
from tests.hub.web.wire import ask

_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
LINE = re.compile(rf"{_NAME}(?:{{{_LABEL}(?:,{_LABEL})*}})? [-+0-9.einfa]+")


def test_labels_are_escaped():
    out = text([Metric("m", "gauge", "Help.", [({"name": 'a"b\\c\nd'}, 1), ({}, 0.25)])])
    assert out == '# HELP m Help.\n# TYPE m gauge\nm{name="a\\"b\\\\c\\nd"} 1\nm 0.25\n'


async def test_every_line_is_one_prometheus_reads():
    """With what the daemon's parts answer in other tests, and with parts that did not answer."""

    class Partly(Fake):
        async def call(self, message, timeout=0):
            if isinstance(message, GetStatus):
                raise ActorDied("session")
            return await super().call(message, timeout)

    for actors, up in ((Fake(), 1), (Partly(), 0)):
        async with running(actors) as server:
            reply = await ask(server.port, "GET", "/metrics")
        assert reply.headers["content-type"] == metrics.MEDIA
        lines = reply.body.decode().splitlines()
        samples = [line for line in lines if not line.startswith("#")]
        assert [line for line in samples if not LINE.fullmatch(line)] == []
        assert f'hub_part_up{{part="session"}} {up}' in samples
        assert 'hub_part_up{part="audit"} 1' in samples
        assert ('hub_session_state{state="idle"} 1' in samples) == bool(up)
        named = [line.split()[2] for line in lines if line.startswith("# TYPE")]
        assert len(set(named)) == len(named)
        assert {re.split("[{ ]", line)[0] for line in samples} <= set(named)


def test_a_dispatch_makes_no_series_of_its_own():
    """A label with an id in it would be a new time series for each agent that was ever started."""
    root = NodeInfo("root", "root", "supervisor", "running", 1, 0, 1.0)
    agent = attrs.evolve(root, path="root/work/adapters/d-1", name="d-1")
    adapters = attrs.evolve(root, path="root/work/adapters", name="adapters", children=(agent,))
    root = attrs.evolve(root, children=(adapters,))
    assert "d-1" not in text(metrics._tree(root))
    assert 'path="root/work/adapters"' in text(metrics._tree(root))
