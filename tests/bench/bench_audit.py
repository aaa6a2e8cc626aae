"""The audit journal: records a second with group commit, one at a time, and judging a log.

Run: python tests/bench/bench_audit.py [records]
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from hub.io.journal import AuditJournal, verify_file
from hub.io.places import Places, make_private_dir

GROUP = 256
KEY = bytes(32)


def event(number: int) -> dict[str, object]:
    """About 830 bytes as a record: the mean of recorded agent events."""
    return {
        "provider": "claude",
        "tool": "bash",
        "path": f"src/module{number % 50}/file.py",
        "tokensIn": number,
        "text": "the quick brown fox jumps over the lazy dog " * 11,
        "input": {"command": "pytest -q", "lines": [1, 2, 3]},
    }


def peer(path: Path, events: list[dict[str, object]]) -> float:
    """The same work with the standard library: json, hashlib, one write and one fdatasync a group."""
    start = time.perf_counter()
    digest = "0" * 64
    with path.open("ab", buffering=0) as file:
        for first in range(0, len(events), GROUP):
            lines = []
            for data in events[first : first + GROUP]:
                body = json.dumps(
                    {"event": "agent_event", "data": data}, sort_keys=True, separators=(",", ":")
                )
                digest = hashlib.sha256((digest + body).encode()).hexdigest()
                lines.append(f'{{"hash":"{digest}","body":{body}}}\n')
            file.write("".join(lines).encode())
            os.fdatasync(file.fileno())
    return len(events) / (time.perf_counter() - start)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    events = [event(number) for number in range(count)]
    with tempfile.TemporaryDirectory() as directory:
        rates = []
        peers = []
        for turn in range(3):
            places = Places(Path(directory) / f"p{turn}", Path(directory) / "state")
            places.root.mkdir()
            make_private_dir(places.hub_dir)
            journal = AuditJournal.open(places, KEY)
            start = time.perf_counter()
            for first in range(0, count, GROUP):
                journal.append_many([("agent_event", data) for data in events[first : first + GROUP]])
            rates.append(count / (time.perf_counter() - start))
            peers.append(peer(Path(directory) / f"peer{turn}", events))
        size = places.audit.stat().st_size / count
        rate, other = statistics.median(rates), statistics.median(peers)
        print(f"append, groups of {GROUP}      {rate:9,.0f} records/s of {size:.0f} B   (goal 50,000)")
        print(f"standard library, same    {other:9,.0f} records/s   hub is {rate / other:.2f}x")
        singles = []
        for number in range(500):
            start = time.perf_counter()
            journal.append("agent_event", events[number])
            singles.append((time.perf_counter() - start) * 1e3)
        singles.sort()
        print(
            f"one at a time             p50 {singles[250]:.2f} ms, p99 {singles[495]:.2f} ms durable   (goal 5)"
        )
        journal.close()
        start = time.perf_counter()
        verdict = verify_file(places, KEY)
        print(f"hub audit verify          {verdict.records / (time.perf_counter() - start):9,.0f} records/s")
        start = time.perf_counter()
        AuditJournal.open(places, KEY).close()
        print(f"judged at start           {verdict.records / (time.perf_counter() - start):9,.0f} records/s")


if __name__ == "__main__":
    main()
