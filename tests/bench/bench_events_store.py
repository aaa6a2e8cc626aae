"""The event log alone: one event at a time and in batches, durable.

Peer: the same store without a sync (`synchronous=OFF`): what durability costs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from hub.io.events.store import EventStore, NewEvent
from tests.bench.table import Row, at_least, percentile, run

BATCH = 64
PEER = "no sync"
TEXT = "the quick brown fox jumps over the lazy dog " * 6


def event(number: int) -> NewEvent:
    meta = {"sessionId": "s1", "provider": "claude", "tool": "bash", "path": "src/file.py"}
    return NewEvent("tool_use", TEXT, meta, 1_795_237_567_000 + number, "d1", number * 300)


def measure(path: Path, level: str, scale: float) -> dict[str, float]:
    """Milliseconds of one durable event, and events a second in batches and read back."""
    store = EventStore.open(path)
    store._db.execute(f"PRAGMA synchronous={level}").fetchall()
    number, singles, batches = 0, [], at_least(5, 300, scale)
    for _ in range(at_least(50, 2000, scale)):
        number += 1
        start = time.perf_counter()
        store.append([event(number)])
        singles.append((time.perf_counter() - start) * 1e3)
    start = time.perf_counter()
    for _ in range(batches):
        store.append([event(number + step) for step in range(1, BATCH + 1)])
        number += BATCH
    written = batches * BATCH / (time.perf_counter() - start)
    start = time.perf_counter()
    found = store.since(0, 20_000)
    read = len(found) / (time.perf_counter() - start)
    store.close()
    return {
        "p50": percentile(singles, 0.5),
        "p99": percentile(singles, 0.99),
        "written": written,
        "read": read,
    }


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Durable, beside not durable."""
    peer = measure(folder / "off.db", "OFF", scale)
    ours = measure(folder / "full.db", "FULL", scale)
    yield Row("event log, one event, durable: p50", ours["p50"], "ms", "", PEER, peer["p50"])
    yield Row("event log, one event, durable: p99", ours["p99"], "ms", "< 5", PEER, peer["p99"])
    yield Row(f"event log, batches of {BATCH}, durable", ours["written"], "/s", "", PEER, peer["written"])
    yield Row("event log, read back", ours["read"], "/s")


if __name__ == "__main__":
    run(rows)
