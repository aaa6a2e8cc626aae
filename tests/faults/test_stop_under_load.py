"""Requests that are under way when the daemon is stopped are answered, or their connection ends: never an empty 500."""

from __future__ import annotations

import http.client
import json
import signal
import threading
from contextlib import closing

import pytest

from tests.faults.harness import PATIENCE, Project, until

ORDERS = (
    ("GET", "/api/status", None),
    ("GET", "/api/config/providers", None),
    ("GET", "/api/history", None),
    ("POST", "/api/session/stop", b"{}"),
    ("POST", "/api/handoff", b"{}"),
    ("POST", "/api/run", b'{"task": "more"}'),
)


@pytest.fixture
def work(made: Project) -> Project:
    made.script("demo-first", {"hang": {}})
    made.configure()
    return made


def test_no_request_is_answered_with_an_empty_500(work: Project):
    """Hypercorn answers so for a request that is cancelled; clients took it for a bug of the daemon's, which it was."""
    api = work.start()
    api.post("/api/run", {"task": "work"})
    until(lambda: api.get("/api/status")["sessionState"] == "running", "the agent runs")
    told: list[tuple[str, int, bytes]] = []
    threads = [
        threading.Thread(target=_ask, args=(work.port, order, told)) for order in ORDERS for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(told) > 2 * len(ORDERS), "all ask")
    assert work.daemon is not None
    work.daemon.send_signal(signal.SIGTERM)
    assert work.wait_dead() == 0
    for thread in threads:
        thread.join()
    for path, status, body in told:
        assert status < 500 or status == 503, (path, status, body)
        assert status < 400 or json.loads(body)["status"] == status, (path, status, body)


def _ask(port: int, order: tuple[str, str, bytes | None], told: list[tuple[str, int, bytes]]) -> None:
    method, path, body = order
    while True:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as link:
            try:
                link.request(method, path, body, {"Content-Type": "application/json"})
                answer = link.getresponse()
                told.append((path, answer.status, answer.read()))
            except (OSError, http.client.HTTPException):
                return
