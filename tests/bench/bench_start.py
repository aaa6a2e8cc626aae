"""How long a daemon takes until it answers, what it weighs, and what it does when nobody asks anything.

Weight and rest are those of a daemon that has had sessions, asked for everything once: what is loaded late is loaded. All
bytecode is compiled before, as an installed package's is.
Peer: the bare stack: an empty Quart-Trio application under Hypercorn's Trio server.

Nearly all of a start is importing: two fifths the bare stack's own. Of hub's part three fifths are some 500 classes made by
attrs (0.3 of 0.55 s of processor time; a third of that makes them comparable, a sixth gives them a text), the rest is flat,
with 10 ms of builders of URLs that Werkzeug compiles for every route. Patterns are compiled when there is a text for them,
and the agents' stores are imported by the first look at the machine. Nothing looks for garbage meanwhile, nor ever through
what was imported: a full collection took 22 to 32 ms of the event loop, and takes 5. With `PYTHONDONTWRITEBYTECODE` set, and
no bytecode beside the packages, a start costs more than twice as much. The detection engine takes half a second to load and
43 MB; it could be let go when no session needs it.

Of 89 MB idle: Python 9, attrs and Trio 18, msgspec, cattrs and SQLite 4, asyncio and Hypercorn with HTTP/2 6, Quart with
Flask and Jinja 12, hub's own modules, most of them classes, 28 (the texts of what attrs makes are let go: 2 MB), the rest
what requests and sessions have left: 8.5, two of them what finds the daemon's own keys, and RE2. It was 95 while each session
made that anew for itself, 92 while each thread had a heap of its own. At load 19 a start took 3.8 s beside the peer's 1.7.
"""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hub.client.quick import Api
from tests.bench.table import Row, at_least, run
from tests.faults.harness import HUB, Project, project, until
from tests.memory import resident

IDLE_SECONDS = 60.0
SESSIONS = 3
PEER = """
import sys, trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart import Response
from quart_trio import QuartTrio
app = QuartTrio("peer")
body = b"{}".ljust(int(sys.argv[2]))
@app.route("/api/status")
async def status(): return Response(body, content_type="application/json")
config = Config()
config.bind = [f"127.0.0.1:{sys.argv[1]}"]
config.errorlog = None
trio.run(serve, app, config)
"""


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def first_answer(argv: Sequence[str], port: int, **where: Any) -> tuple[float, subprocess.Popen[bytes]]:
    """Milliseconds from the spawn to the first 200, and the process."""
    begun = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **where)
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        try:
            connection.request("GET", "/api/status")
            if connection.getresponse().status == 200:
                return (time.perf_counter() - begun) * 1000, process
        except OSError:
            assert process.poll() is None, "it ended"
            time.sleep(0.002)
        finally:
            connection.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """Stops it and waits."""
    process.terminate()
    process.wait(timeout=30)


def cpu_seconds(pid: int) -> float:
    """Processor time so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def live(made: Project, port: int, daemon: subprocess.Popen[bytes]) -> None:
    """Sessions to their ends, and a look at everything there is to see."""
    made.daemon, made.port = daemon, port
    api = Api(port, 120)
    for _ in range(SESSIONS):
        session = api.post("/api/run", {"task": "write"})["sessionId"]
        until(lambda session=session: made.ended().get("sessionId") == session, "the session ends")
    for path in (
        "status",
        "session/diff",
        "session/cost",
        "events",
        "graph",
        "providers",
        "config/providers",
    ):
        api.get(f"/api/{path}")


def measure(folder: Path, rounds: int = 5, idle: float = IDLE_SECONDS) -> dict[str, float]:
    """Medians of interleaved rounds; hub's and the peer's."""
    ours: list[float] = []
    peers: list[float] = []
    found: dict[str, float] = {}
    folder.mkdir(exist_ok=True)
    with project(folder) as made:
        made.script("demo-first", {"say": "working", "times": 200}, {"write": {"path": "a", "text": "x"}})
        made.configure()
        env = {**made.environ(), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        env["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # as some machines set it, and then nothing is ever compiled
        for turn in range(rounds + 1):
            port = free_port()
            took, process = first_answer([sys.executable, "-c", PEER, str(port), "2"], port, env=env)
            end(process)
            peers.append(took)
            port = free_port()
            took, process = first_answer([*HUB, "daemon", "--port", str(port)], port, env=env, cwd=made.root)
            ours.append(took)
            if turn == rounds:
                live(made, port, process)
                time.sleep(2)
                before = cpu_seconds(process.pid)
                time.sleep(idle)
                found["idle_percent"] = (cpu_seconds(process.pid) - before) / idle * 100
                found["rss_mb"] = resident(process.pid) / 1e6
            end(process)
    # The first round compiles.
    found |= {"start_ms": statistics.median(ours[1:]), "peer_ms": statistics.median(peers[1:])}
    ratio = statistics.median(a / b for a, b in zip(ours[1:], peers[1:], strict=True))
    return {**found, "start_ratio": ratio}


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Its start, its weight and its rest."""
    found = measure(folder, at_least(1, 5, scale), max(0.5, IDLE_SECONDS * scale))
    peer = found["start_ms"] / found["start_ratio"]
    yield Row(
        "daemon: spawn to first 200", found["start_ms"], "ms", "<= 900", "bare Quart-Trio on Hypercorn", peer
    )
    yield Row("daemon: memory when idle", found["rss_mb"], "MB", "<= 90")
    yield Row("daemon: processor when idle", found["idle_percent"], "%", "<= 0.3")


if __name__ == "__main__":
    run(rows)
