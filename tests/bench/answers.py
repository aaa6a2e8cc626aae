"""How long a program on a pipe takes to its first answer, and what it costs, beside the official SDK that does nothing."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.bench.table import Row, at_least


def _first_answer(argv: Sequence[str], hello: Mapping[str, Any], where: Path) -> tuple[float, float, float]:
    """Milliseconds until it came, milliseconds of processor time, and megabytes resident."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(where / "bytecode")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # as some machines set it: what is installed is compiled
    begun = time.perf_counter()
    with subprocess.Popen(argv, cwd=where, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.flush()
        assert b"protocolVersion" in process.stdout.readline()
        waited = (time.perf_counter() - begun) * 1000
        seen = psutil.Process(process.pid)
        used, memory = seen.cpu_times(), seen.memory_info().rss
        process.stdin.close()
    return waited, (used.user + used.system) * 1000, memory / 2**20


def first_answers(
    name: str, hello: Mapping[str, Any], peer: str, folder: Path, scale: float
) -> Iterator[Row]:
    """Hub and the bare SDK, in turns, each a process of its own that is told hello."""
    rounds = at_least(1, 10, scale)
    ours, theirs = (sys.executable, "-m", "hub", name), (sys.executable, "-c", peer)
    pairs = [
        (_first_answer(ours, hello, folder), _first_answer(theirs, hello, folder)) for _ in range(rounds)
    ]
    for index, (what, unit, target) in enumerate(
        (("first answer", "ms", "<= 400"), ("processor time for it", "ms", ""), ("memory", "MB", "<= 30"))
    ):
        mine, its = (statistics.median(pair[side][index] for pair in pairs) for side in (0, 1))
        yield Row(f"`hub {name}`: {what}", mine, unit, target, "the bare SDK", its)
