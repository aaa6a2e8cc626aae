"""Redaction of plain text with ten known values: MB of Python source a second.

Peer: the naive way: one `re.sub` over the alternation of the same forms, longest first: without the anchors, without
broken lines, without the rules, without a stream.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from hub.domain.event import Event, EventType
from hub.domain.redaction.events import EventRedactor
from hub.domain.redaction.known import forms
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.io.secrets.kingfisher import Detection
from tests.bench.table import Row, at_least, run

ROOT = Path(__file__).resolve().parents[2]
PEER = "one `re.sub`"
SIZE = 2_000_000
ROUNDS = 3


def values() -> list[str]:
    draw = random.Random(7)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return [f"sk-ant-api03-{''.join(draw.choices(letters, k=90))}" for _ in range(5)] + [
        "".join(draw.choices(letters, k=40)) for _ in range(5)
    ]


def best(act: Callable[[], object], size: int) -> float:
    """MB/s of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return size / 1e6 / min(times)


def streamed(redactor: Redactor, part: str, size: int) -> None:
    """A text in pieces."""
    out = redactor.stream()
    for at in range(0, len(part), size):
        out.feed(part[at : at + size])
    out.flush()


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The whole text, pieces of it, line by line; and text made to be slow."""
    size = at_least(200_000, SIZE, scale)
    source = "".join(path.read_text() for path in sorted((ROOT / "hub").rglob("*.py")))
    text = (source * (size // len(source) + 1))[:size]
    secrets = values()
    known = KnownSecrets(secrets)
    redactor = Redactor(known, b"key")
    written = sorted({form for value in secrets for form in forms(value.encode())}, key=len, reverse=True)
    naive = re.compile("|".join(map(re.escape, written)))
    floor = best(lambda: naive.sub("*", text), size)
    yield Row("redaction, whole text", best(lambda: redactor.text(text), size), "MB/s", "", PEER, floor)
    for piece in (65_536, 4096, 200):
        part = text[: piece * 500]
        rate = best(partial(streamed, redactor, part, piece), len(part))
        yield Row(f"redaction, pieces of {piece}", rate, "MB/s", "", PEER, floor)
    engine = Detection().load()
    if engine is not None:
        whole = Redactor(known, b"key", engine=engine)
        yield Row(
            "redaction, with the engine", best(lambda: whole.text(text), size), "MB/s", ">= 8", PEER, floor
        )
        dense = "".join(path.read_text() for path in sorted((ROOT / "tests" / "captures").rglob("*.jsonl")))[
            :size
        ]
        rate = best(lambda: Redactor(known, b"key", engine=engine).text(dense), len(dense))
        yield Row("redaction, with the engine, agents' lines full of ids", rate, "MB/s", ">= 5")
    event = Event(
        EventType.TOOL_USE, "Bash", {"toolUseId": "toolu_01ABCdefGHIjkl", "input": {"command": "pytest -q"}}
    )
    feed = EventRedactor(redactor).feed
    rate = best(lambda: [feed(event) for _ in range(1000)], 1000)
    yield Row("redaction, a clean event", 1 / rate, "us")
    lines = text[:200_000].splitlines(keepends=True)
    rate = best(lambda: [redactor.text(line) for line in lines], len(lines))
    yield Row("redaction, a line", 1 / rate, "us")
    for noise in ("a", "sk-", "sk-ant-", "eyJ", "4Q~", "token=", "cookie=", "-----BEGIN PRIVATE KEY-----"):
        hostile = noise * (size // 4 // len(noise))
        rate = best(partial(redactor.text, hostile), len(hostile))
        yield Row(f"redaction, hostile text `{noise[:12]}`...", rate, "MB/s", ">= 1")


if __name__ == "__main__":
    run(rows)
