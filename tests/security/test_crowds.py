"""A thousand connections that never become a request stop nobody: a real daemon, asked meanwhile by its user.

Whatever a connection withholds (its request, the end of its head, the end of its body), whosever it is: the next client of
the daemon's user is answered at once. A daemon with a bound and no order among its connections turns that client away.
"""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing

import psutil
import pytest

from hub.client.quick import Api
from tests.faults.harness import PATIENCE, Project
from tests.other_user import only_root, started_by_nobody

MANY = 1000
PROMPTLY = 3.0
"""Seconds of the daemon's own work, whatever else the machine does: all of the crowd, and the five answers."""
KINDS = {
    "nothing": b"",
    "half a head": b"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Ty",
    "half a body": b"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
}
CROWD = """
import resource, socket, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
port, data, many = int(sys.argv[1]), bytes.fromhex(sys.argv[2]), int(sys.argv[3])
links = []
for _ in range(many):
    link = socket.create_connection(("127.0.0.1", port), timeout=60)
    try:
        link.sendall(data)
    except OSError:
        pass
    links.append(link)
print("all are there", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def _files() -> Iterator[None]:
    """As many as this process may have."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def work(made: Project) -> Project:
    made.configure()
    return made


def answers_promptly(work: Project, idle: float) -> None:
    """New connections, one after the other, each with a whole request."""
    api = Api(work.port, timeout=PATIENCE)
    for _ in range(5):
        assert api.get("/api/status")["sessionState"] == "idle"
    assert api.post("/api/profiles", {"name": "mine"})["ok"] is True
    assert worked(work) - idle < PROMPTLY


def worked(work: Project) -> float:
    """Seconds of a processor that the daemon has taken."""
    assert work.daemon is not None
    taken = psutil.Process(work.daemon.pid).cpu_times()
    return taken.user + taken.system


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_connections_of_ones_own_stop_nobody(work: Project, kind: str):
    work.start().get("/api/status")
    data, idle = KINDS[kind], worked(work)
    with ExitStack() as stack:
        for _ in range(MANY):
            link = stack.enter_context(
                closing(socket.create_connection(("127.0.0.1", work.port), timeout=60))
            )
            link.sendall(data % work.port if b"%d" in data else data)
        answers_promptly(work, idle)
    assert (work.root.parent / "daemon.log").read_text().count("\n") < 10


@only_root
@pytest.mark.parametrize("kind", KINDS)
def test_nor_do_a_thousand_of_another_user(work: Project, kind: str):
    """They have places of their own: no connection of the daemon's user is ended for one of theirs."""
    work.start().get("/api/status")
    data, idle = KINDS[kind], worked(work)
    with closing(socket.create_connection(("127.0.0.1", work.port), timeout=60)) as first:
        text = (data % work.port if b"%d" in data else data).hex()
        crowd = started_by_nobody(CROWD, str(work.port), text, str(MANY))
        assert crowd.stdout is not None
        assert crowd.stdout.readline() == "all are there\n"
        answers_promptly(work, idle)
        first.sendall(b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % work.port)
        assert first.recv(12) == b"HTTP/1.1 200"
        crowd.communicate("\n", timeout=60)
