"""One table of what hub promises: target, value, peer, and their ratio, all measured in this run on this machine.

Absolute times are those of the machine; on a shared one only the ratio to the peer, measured in turns with it, means
anything. Nothing here fails on a clock. `python -m tests.bench.report [files]` (default 50,000).
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import attrs
import trio

from hub.io.journal import AuditJournal
from hub.io.places import Places, make_private_dir
from tests.bench import bench_audit, bench_handoff, bench_pipeline, bench_snapshot, bench_start

RECORDS = 20_000
ROUNDS = 5


@attrs.frozen
class Row:
    """One line of the table."""

    what: str
    target: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float = 0.0

    def line(self) -> str:
        """As text."""
        beside = (
            f"{self.peer_value:9.1f}  {self.value / self.peer_value:5.2f}  {self.peer}" if self.peer else ""
        )
        return f"{self.what:44} {self.target:>10} {self.value:10.1f} {self.unit:4} {beside}"


def start(folder: Path) -> list[Row]:
    """The daemon's start, weight and rest."""
    found = bench_start.measure(folder, ROUNDS)
    return [
        Row(
            "daemon: spawn -> first 200",
            "<= 500",
            found["start_ms"],
            "ms",
            "bare Quart-Trio",
            found["peer_ms"],
        ),
        Row("daemon: memory idle", "<= 80", found["rss_mb"], "MB"),
        Row("daemon: processor idle", "<= 0.3", found["idle_percent"], "%"),
        Row("hub status --json", "<= 120", found["status_ms"], "ms"),
    ]


def events(folder: Path) -> list[Row]:
    """From the agent's line to ten clients."""
    rows = []
    for rate, clients in ((1000, 10), (5000, 1)):
        peer = bench_pipeline.floor(folder, rate, 4, clients)
        found = bench_pipeline.measure(folder / f"r{rate}", rate, 5, clients, batch=rate > 1000)
        what = f"agent's line -> {clients} client(s), {rate}/s"
        rows += [
            Row(f"{what}: p50", "", found["p50_ms"], "ms", "pipe, 2 syncs, socket", peer["p50_ms"]),
            Row(f"{what}: p99", "< 5", found["p99_ms"], "ms", "pipe, 2 syncs, socket", peer["p99_ms"]),
            Row(f"{what}: processor an event", "", found["cpu_us_per_event"], "us"),
        ]
    return rows


def audit(folder: Path) -> list[Row]:
    """The journal with group commit."""
    data = [bench_audit.event(number) for number in range(RECORDS)]
    ours, peers = [], []
    for turn in range(3):
        places = Places(folder / f"a{turn}", folder / "state")
        places.root.mkdir()
        make_private_dir(places.hub_dir)
        journal = AuditJournal.open(places, bench_audit.KEY)
        begun = time.perf_counter()
        for first in range(0, RECORDS, bench_audit.GROUP):
            journal.append_many([("agent_event", one) for one in data[first : first + bench_audit.GROUP]])
        ours.append(RECORDS / (time.perf_counter() - begun))
        journal.close()
        peers.append(bench_audit.peer(folder / f"peer{turn}", data))
    peer = statistics.median(peers)
    return [
        Row(
            "audit records, group commit",
            ">= 50000",
            statistics.median(ours),
            "/s",
            "json + hashlib + fdatasync",
            peer,
        )
    ]


def repository(folder: Path, files: int) -> list[Row]:
    """Snapshot and handoff in a large repository."""
    root = folder / "repo"
    root.mkdir()
    bench_snapshot.plant(root, files)
    mine, peer = trio.run(bench_snapshot.measure, root, ROUNDS)
    ratio = statistics.median(a / b for a, b in zip(mine, peer, strict=True))
    commit = statistics.median(peer) * 1000
    found = bench_handoff.measure(folder, files)
    return [
        Row(
            f"snapshot of {files} files", "<= 0.5 x", ratio * commit, "ms", "git add -A && git commit", commit
        ),
        Row(
            "limit's line -> next agent's first line",
            "<= 300",
            found["median"],
            "ms",
            "git add -A && git commit",
            found["peer"],
        ),
    ]


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    print(f"{'what':44} {'target':>10} {'value':>10}      {'peer':>9}  ratio   load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        os.environ["HUB_STATE_DIR"] = f"{directory}/state"
        for name, part in (("start", start), ("events", events), ("audit", audit)):
            folder = place / name
            folder.mkdir()
            for row in part(folder):
                print(row.line(), flush=True)
        (place / "repository").mkdir()
        for row in repository(place / "repository", files):
            print(row.line(), flush=True)


if __name__ == "__main__":
    main()
