"""A daemon that may open no more files goes on: it accepts again when it may, says so once, and does not spin meanwhile."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path

import psutil
import pytest

from hub.client.quick import Api
from hub.errors import Code, HubError
from tests.faults.harness import PATIENCE, Project, until

_EVERY = (
    *("/openapi.json", "/api/graph", "/api/pipelines", "/api/approvals", "/api/profiles", "/api/circuit"),
    *("/api/outcomes", "/api/quota/wallet", "/api/history", "/api/detect", "/api/config/providers"),
)
"""What makes every actor begin."""
_FREE = 4
"""Connections there is room for."""


@pytest.fixture
def work(made: Project) -> Project:
    made.forked = False  # an import needs a file too
    made.configure()
    return made


def test_connections_leave_files_for_the_daemons_own_work(work: Project):
    """Taken by connections, the last files were lacking for an import, and the daemon ended."""
    daemon = started(work)
    limited(daemon.pid, room_for(daemon.pid, _FREE))
    with ExitStack() as stack:
        followers = [stack.enter_context(follower(work.port)) for _ in range(4 * _FREE)]
        heard = [answer(link) for link in followers]
        # A few more where files of the daemon's own were closed meanwhile.
        assert _FREE <= heard.count(b"HTTP/1.1 200") <= 3 * _FREE
        assert set(heard) == {b"HTTP/1.1 200", b"HTTP/1.1 503"}, "nobody is cut off without a word"
    until(lambda: answers(work), "there is room again")
    assert Api(work.port).post("/api/profiles", {"name": "mine"})["ok"] is True
    assert _log(work).count("too few files are left") == 1
    assert _log(work).count("\n") < 5


@pytest.mark.parametrize("imported", [True, False])
def test_without_a_free_file_nothing_ends_spins_or_floods(work: Project, imported):
    """EMFILE at accept: a listening socket stays readable, so a loop that tries again at once takes a whole processor.

    A daemon that has just begun has code to import yet: its parts were restarted without a pause, until it ended and
    whoever waited was cut off.
    """
    daemon = started(work) if imported else begun(work)
    before = limited(daemon.pid, 1)
    with ExitStack() as stack:
        for _ in range(4 * _FREE):
            stack.enter_context(follower(work.port))
        until(lambda: "no connection can be accepted" in _log(work), "the log says so")
        taken = _taken(daemon)
        with pytest.raises(HubError) as late:  # there is nothing else to wait for: an answer cannot come
            Api(work.port, timeout=2).get("/api/status")
        assert late.value.code is Code.TIMEOUT
        assert _taken(daemon) - taken < 0.5
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)
        assert Api(work.port, PATIENCE).get("/api/status")["sessionState"] == "idle"
    assert Api(work.port).post("/api/profiles", {"name": "mine"})["ok"] is True
    assert _log(work).count("no connection can be accepted") == 1
    assert _log(work).count("\n") < 5


def begun(work: Project) -> psutil.Process:
    """A daemon that answers and has read its settings; most of it is not imported."""
    work.start().get("/api/instructions")
    assert work.daemon is not None
    return psutil.Process(work.daemon.pid)


def started(work: Project) -> psutil.Process:
    """A daemon that has imported what it imports after its start."""
    api = work.start()
    for path in _EVERY:
        api.get(path)
    assert work.daemon is not None
    return psutil.Process(work.daemon.pid)


def limited(pid: int, most: int) -> tuple[int, int]:
    """Sets how many files the daemon may have; the limits before."""
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
    return before


def room_for(pid: int, connections: int) -> int:
    """The limit that leaves room for so many: it is one of numbers, and connections take none of the last quarter."""
    used = {int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    return next(most for most in count(4) if len(set(range(most - most // 4)) - used) == connections)


@contextmanager
def follower(port: int) -> Iterator[socket.socket]:
    """A stream under way, which gives way to nobody."""
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE)) as link:
        link.sendall(b"GET /api/events/stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
        yield link


def answer(link: socket.socket) -> bytes:
    """How its answer begins; b"" where there is none."""
    try:
        return link.recv(12)
    except ConnectionError:
        return b""


def answers(work: Project) -> bool:
    """Whether the daemon does."""
    try:
        return bool(Api(work.port, PATIENCE).get("/api/health")["ok"])
    except HubError:
        return False


def _taken(daemon: psutil.Process) -> float:
    taken = daemon.cpu_times()
    return float(taken.user + taken.system)


def _log(work: Project) -> str:
    return (work.root.parent / "daemon.log").read_text()
