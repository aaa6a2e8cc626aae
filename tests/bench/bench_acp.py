"""How long an editor waits for `hub acp`: from the start of the process to its first answer, and its memory.

Peer: the protocol's official SDK with an agent that does nothing.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from tests.bench.table import Row, at_least, run

BARE = """
import asyncio
import acp
class Bare(acp.Agent):
    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **kwargs):
        return acp.InitializeResponse(protocol_version=1)
asyncio.run(acp.run_agent(Bare()))
"""
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
HUB = (sys.executable, "-m", "hub", "acp")
PEER = (sys.executable, "-c", BARE)


def first_answer(argv: tuple[str, ...], where: Path) -> tuple[float, float, float]:
    """Milliseconds until it came, milliseconds of processor time, and megabytes resident."""
    begun = time.perf_counter()
    with subprocess.Popen(argv, cwd=where, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        assert b"protocolVersion" in process.stdout.readline()
        waited = (time.perf_counter() - begun) * 1000
        seen = psutil.Process(process.pid)
        used, memory = seen.cpu_times(), seen.memory_info().rss
        process.stdin.close()
    return waited, (used.user + used.system) * 1000, memory / 2**20


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Hub and the bare SDK, in turns."""
    rounds = at_least(1, 10, scale)
    pairs = [(first_answer(HUB, folder), first_answer(PEER, folder)) for _ in range(rounds)]
    for index, (what, unit, target) in enumerate(
        (("first answer", "ms", "<= 400"), ("processor time for it", "ms", ""), ("memory", "MB", "<= 30"))
    ):
        ours, theirs = (statistics.median(pair[side][index] for pair in pairs) for side in (0, 1))
        yield Row(f"`hub acp`: {what}", ours, unit, target, "the bare SDK", theirs)


if __name__ == "__main__":
    run(rows)
