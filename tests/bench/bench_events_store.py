"""The event log: one event at a time and in batches, durable, beside what weaker settings would give.

Run: python tests/bench/bench_events_store.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from hub.io.sqlite import EventStore, NewEvent

TEXT = "the quick brown fox jumps over the lazy dog " * 6


def event(number: int) -> NewEvent:
    meta = {"sessionId": "s1", "provider": "claude", "tool": "bash", "path": "src/file.py"}
    return NewEvent("tool_use", TEXT, meta, 1_795_237_567_000 + number, "d1", number * 300)


def percentiles(values: list[float]) -> str:
    ordered = sorted(values)
    return (
        f"p50 {ordered[len(ordered) // 2] * 1e3:.2f} ms, p99 {ordered[int(len(ordered) * 0.99)] * 1e3:.2f} ms"
    )


def measure(directory: str, level: str) -> None:
    store = EventStore.open(Path(directory) / f"{level}.db")
    assert store._db is not None
    store._db.execute(f"PRAGMA synchronous={level}").fetchall()
    number = 0
    singles = []
    for _ in range(2000):
        number += 1
        start = time.perf_counter()
        store.append([event(number)])
        singles.append(time.perf_counter() - start)
    print(f"synchronous={level:6} single {percentiles(singles)}", end="   ")
    start = time.perf_counter()
    for _ in range(300):
        store.append([event(number + step) for step in range(1, 65)])
        number += 64
    print(f"batches of 64: {300 * 64 / (time.perf_counter() - start):,.0f} events/s", end="   ")
    start = time.perf_counter()
    found = store.since(0, 20_000)
    print(f"read: {len(found) / (time.perf_counter() - start):,.0f} events/s")
    store.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        for level in ("FULL", "NORMAL", "OFF"):
            measure(directory, level)
    print("goal: durable (FULL) single p99 < 5 ms")


if __name__ == "__main__":
    main()
