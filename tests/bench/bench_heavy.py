"""Heavy requests: what each takes, and the longest that anybody else waits meanwhile.

A daemon of a project with a library's worth of code and 2,000 detected sessions. While each heavy request is asked for
again and again, a process of its own asks for `/api/health` every few milliseconds; its longest answer stands beside.
Peer: universal-ctags over the same files, in turns with the look at a project's code, where `ctags` is on PATH; for all others the
longest answer of `/api/health` while nothing else is asked. The session is handed over once: there is a contract.

The look at the code and retrieval are read to their last byte on one connection and not parsed: ctags' output is read by nobody
either. All others are asked for as `hub` does, with a connection for each and the answer parsed.

Of Django's package in turns with ctags, without the client's reading: 336-382 ms beside 348-489 at load 10, of processor time
254-284 beside 249-349. Of it reading takes 45, symbols and imports 85, names looked at for secrets 14, the graph 70, JSON 7 ms;
one thread, as ctags has. Retrieval takes the daemon 2.55 ms of processor time: SQLite and the order 0.9, Quart 1.0, the rest the
thread and the sending of 45 kB; a new connection for each costs 0.9 more. In turns with the form that searched code for known
values again it took 3.5 beside 4.2 ms, at load 12. Beside much other work `/api/health` waits for as long as everything does:
46-214 ms beside an idle 49 at load 17.

`HUB_BENCH_SOURCES` names the folder of source code (Django's, say); else it is a part of this Python's own library.
"""

from __future__ import annotations

import http.client
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import pytest

from hub.client.quick import Api
from hub.errors import HubError
from tests.bench.bench_code_scan import universal_ctags
from tests.bench.bench_detect import corpus as sessions
from tests.bench.bench_graph import corpus as library
from tests.bench.bench_start import cpu_seconds
from tests.bench.table import Row, at_least, percentile, run
from tests.faults.harness import Project, git, project
from tests.waiting import until

CODE = 20_000_000
"""Bytes of source code."""
SESSIONS = 0.02
"""Of the corpus of detection: as many sessions, each far shorter; what they hold is not what is asked for here."""
ROUNDS = 5
HEALTH_TARGET = "<= 100"
RETRIEVALS = 200
PROBE = """
import http.client, sys, time
link = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
longest = 0.0
left = 900
print("ready", flush=True)
until = sys.stdin
import select
while not select.select([until], [], [], 0.003)[0]:
    if not left:
        link.close()
        left = 900
    begun = time.perf_counter()
    link.request("GET", "/api/health")
    link.getresponse().read()
    longest = max(longest, time.perf_counter() - begun)
    left -= 1
print(longest * 1000, flush=True)
"""
"""One client that asks for the health until it is told to end, then says how long its longest wait was."""


class Probe:
    """The longest answer of `/api/health` while something else goes on, in ms."""

    def __init__(self, port: int) -> None:
        self._asked = subprocess.Popen(
            [sys.executable, "-c", PROBE, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._asked.stdout.readline()

    def longest(self) -> float:
        """Ends the asking."""
        said, _ = self._asked.communicate("\n", timeout=60)
        return float(said)


class Kept:
    """One connection to a daemon."""

    def __init__(self, port: int) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def get(self, path: str, /, **query: object) -> bytes:
        """The bytes of an answer."""
        self._link.request("GET", f"{path}?{urlencode(query)}")
        answer = self._link.getresponse()
        assert answer.status == HTTPStatus.OK
        return answer.read()


def timed(act: Callable[[], object], rounds: int) -> float:
    """Milliseconds of the act (p50)."""
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        act()
        taken.append((time.perf_counter() - begun) * 1000)
    return percentile(taken, 0.5)


def meanwhile(port: int, act: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Milliseconds of the act (p50) with somebody else beside it, and of the longest answer to him."""
    probe = Probe(port)
    return timed(act, rounds), probe.longest()


def code(root: Path, size: int) -> None:
    """Source code in the project, committed."""
    if named := os.environ.get("HUB_BENCH_SOURCES"):
        shutil.copytree(
            named.split(os.pathsep)[0], root / "code", symlinks=True, ignore=shutil.ignore_patterns(".git")
        )
    else:
        library(root / "code", size)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "code")


def refused(api: Api) -> None:
    """A list of pipelines in which 40,000 nodes are waited for that are not there."""
    unknown = [f"n{number}" for number in range(200)]
    node = {"id": "a", "provider": "demo-first", "task": "x", "dependsOn": unknown}
    nodes = [{**node, "id": f"a{number}"} for number in range(200)]
    with pytest.raises(HubError) as refusal:
        api.post("/api/pipelines", [{"name": "p", "nodes": nodes}])
    assert len(refusal.value.extra["errors"]) == 100


def ctags(root: Path) -> None:
    """Ctags over the same code."""
    subprocess.run(
        ["ctags", "-R", "--sort=no", "-f", os.devnull, "code"], cwd=root, check=True, capture_output=True
    )


def in_turns(acts: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Milliseconds of each act (p50), one after the other in each round: what else the machine does is in all of them."""
    taken = [[timed(act, 1) for act in acts] for _ in range(rounds)]
    return [percentile(list(each), 0.5) for each in zip(*taken, strict=True)]


def served(made: Project, scale: float) -> Iterator[tuple[str, Callable[[], object], int]]:
    """What is asked for: its name, the request, and how often."""
    api = Api(made.port, 60)
    rounds = at_least(1, ROUNDS, scale)
    with Kept(made.port) as kept:
        yield "GET /api/graph/project", lambda: kept.get("/api/graph/project", path="code"), rounds
    yield "GET /api/detect, 2,000 sessions", lambda: api.get("/api/detect", {"sinceHours": 8760}), rounds
    yield "POST /api/pipelines, 40,000 unknown ids", lambda: refused(api), rounds
    yield "GET /api/graph/detail, 2,000 nodes", lambda: api.get("/api/graph/detail", {"limit": 2000}), rounds
    yield "GET /api/session/diff of 4 MB", lambda: api.get("/api/session/diff"), rounds
    yield "GET /api/events, 1,000", lambda: api.get("/api/events", {"limit": 1000}), rounds
    yield "GET /api/contract", lambda: api.get("/api/contract"), rounds
    yield "GET /api/history", lambda: api.get("/api/history"), rounds
    yield "GET /api/history/commits", lambda: api.get("/api/history/commits"), rounds
    newest = api.get("/api/history/commits")[0]["sha"]
    yield "GET /api/history/diff", lambda: api.get("/api/history/diff", {"sha": newest}), rounds
    words = [
        "connection",
        "request",
        "parse",
        "error handler",
        "open file",
        "encode",
        "thread lock",
        "path join",
    ]
    draw = random.Random(3)
    asked = at_least(5, RETRIEVALS, scale)
    with Kept(made.port) as kept:
        yield "GET /api/retrieval", lambda: kept.get("/api/retrieval", q=draw.choice(words)), asked


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Each heavy request, and the longest wait beside it."""
    home = folder / "home"
    sessions(home, SESSIONS * scale)
    with project(folder) as made:
        code(made.root, at_least(200_000, CODE, scale))
        text = "".join(
            f"line {number} of a file that was generated\n" for number in range(at_least(100, 80_000, scale))
        )
        made.script(
            "demo-first",
            {"write": {"path": "big.txt", "text": text}},
            {"say": "word", "times": 1000},
            {"limit": {}},
        )
        made.script("demo-second", {"done": ""})
        made.configure()
        api = made.start(HOME=str(home)).within(60)
        # The one that a start makes before the detection engine is there.
        taken, waited = meanwhile(made.port, lambda: api.post("/api/run", {"task": "write"}), 1)
        yield Row("POST /api/run, answered", taken, "ms")
        until(lambda: api.get("/api/status")["sessionState"] == "completed", "the session ends")
        until(lambda: api.get("/api/graph")["state"] == "ready", "the code is indexed")
        yield Row("- longest /api/health meanwhile", waited, "ms", HEALTH_TARGET)
        quiet = Probe(made.port)
        time.sleep(at_least(0, 2, scale))
        idle = quiet.longest()
        for name, act, rounds in served(made, scale):
            act()
            if "project" in name and universal_ctags():
                taken, peer = in_turns([act, lambda: ctags(made.root)], rounds)
                yield Row(name, taken, "ms", "<= 1 x", "universal-ctags", peer)
            else:
                used = cpu_seconds(made.daemon.pid)
                yield Row(name, timed(act, rounds), "ms", "<= 3" if "retrieval" in name else "")
                used = cpu_seconds(made.daemon.pid) - used
                if "retrieval" in name:
                    yield Row("- the daemon's processor time", used / rounds * 1000, "ms")
            _, waited = meanwhile(made.port, act, rounds)
            yield Row("- longest /api/health meanwhile", waited, "ms", HEALTH_TARGET, "idle", idle)
        made.stop()


if __name__ == "__main__":
    run(rows)
