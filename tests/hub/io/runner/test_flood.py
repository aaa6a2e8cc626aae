"""A line without an end, through the real pipe, spool, socket and framer."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from hub.io.runner.client import spawn_runner
from hub.io.runner.framing import HEAD, LineFramer
from hub.io.runner.view import Output
from tests.hub.io.runner.kit import attached, claim_of, script
from tests.memory import resident

SIZE = int(os.environ.get("HUB_TEST_LINE_MIB", "200")) << 20
"""The gigabyte of the requirement with HUB_TEST_LINE_MIB=1024; less in a normal run, for the time."""


async def test_a_huge_line_costs_neither_side_memory_and_framing_stays_in_step(run_dir: Path):
    text = (
        "import os\nchunk = b'x' * (1 << 20)\nos.write(1, b'before\\n')\n"
        f"for _ in range({SIZE >> 20}):\n    left = chunk\n    while left: left = left[os.write(1, left):]\n"
        "os.write(1, b'\\nafter\\n')"
    )
    await spawn_runner(run_dir, script(text, spool_limit=2 << 30, linger=30.0))
    pid = claim_of(run_dir)["pid"]
    framer, lines = LineFramer(), []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with attached(run_dir) as client:
        async for message in client:
            if isinstance(message, Output):
                lines += framer.feed(message.data, message.offset)
        peak = resident(pid, peak=True)
    assert [(line.data[:6], len(line.data), line.truncated) for line in lines] == [
        (b"before", 6, 0),
        (b"xxxxxx", HEAD, SIZE - HEAD),
        (b"after", 5, 0),
    ]
    assert peak < 60 << 20, "the runner's peak, of which the interpreter itself is some 15 MiB"
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 50 << 20
