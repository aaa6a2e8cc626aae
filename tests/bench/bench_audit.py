"""The audit journal: records a second with group commit, one at a time, and judging a log.

Peer: the same records with the standard library: json, hashlib, one write and one fdatasync a group.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hub.io.audit.journal import AuditJournal, verify_file
from hub.io.project.places import Places, make_private_dir
from tests.bench.table import Row, at_least, percentile, run

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


def append(journal: AuditJournal, events: list[dict[str, object]]) -> None:
    """One durable group, as the audit actor writes it."""
    draft = journal.draft()
    for data in events:
        draft.add("agent_event", data)
    journal.commit(draft)


def appended(place: Path, events: list[dict[str, object]]) -> tuple[Places, float]:
    """A new journal with these events in groups, and the records a second."""
    places = Places(place, place.parent / "state")
    places.root.mkdir()
    make_private_dir(places.hub_dir)
    journal = AuditJournal.open(places, KEY)
    start = time.perf_counter()
    for first in range(0, len(events), GROUP):
        append(journal, events[first : first + GROUP])
    rate = len(events) / (time.perf_counter() - start)
    journal.close()
    return places, rate


def singles(places: Places, events: list[dict[str, object]]) -> Iterator[float]:
    """Milliseconds of each durable append."""
    with closing(AuditJournal.open(places, KEY)) as journal:
        for data in events:
            start = time.perf_counter()
            append(journal, [data])
            yield (time.perf_counter() - start) * 1e3


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Writing in groups and one by one, and judging the log."""
    events = [event(number) for number in range(at_least(1000, 50_000, scale))]
    pairs = [
        (appended(folder / f"p{turn}", events), peer(folder / f"peer{turn}", events)) for turn in range(3)
    ]
    rate, other = (
        statistics.median(values) for values in zip(*((p[0][1], p[1]) for p in pairs), strict=True)
    )
    yield Row(
        f"audit records, groups of {GROUP}",
        rate,
        "/s",
        ">= 50,000",
        "`json` + `hashlib` + `fdatasync`",
        other,
    )
    places = pairs[0][0][0]
    each = list(singles(places, events[: at_least(20, 500, scale)]))
    yield Row("one audit record, durable: p50", percentile(each, 0.5), "ms")
    yield Row("one audit record, durable: p99", percentile(each, 0.99), "ms", "<= 5")
    start = time.perf_counter()
    verdict = verify_file(places, KEY)
    yield Row("`hub audit verify`", verdict.records / (time.perf_counter() - start), "/s")
    start = time.perf_counter()
    AuditJournal.open(places, KEY).close()
    yield Row("audit log judged at a start", verdict.records / (time.perf_counter() - start), "/s")


if __name__ == "__main__":
    run(rows)
