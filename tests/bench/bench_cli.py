"""What a command costs from its start to its end: the latency a prompt, a script or an impatient person feels.

Each is a process of its own, as installed, with its bytecode compiled.
Peer: the bare interpreter, which does nothing.

Of `status --json`'s 205 ms of processor time 150 are imports, half of them what `--help` has too, the rest classes made by
attrs, and cattrs; 13 the functions that cattrs makes for the answer. At load 12-14 the three took 63-81, 251-473 and 844-958
ms beside a peer's 52-75.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.table import Row, at_least, run
from tests.faults.harness import project

FLOOR = ("-c", "pass")
COMMANDS = (
    ("hub --version", "<= 60", ("-m", "hub", "--version")),
    ("hub --help", "<= 150", ("-m", "hub", "--help")),
    ("hub status --json", "<= 200", ("-m", "hub", "status", "--json")),
    ("hub logs --json", "", ("-m", "hub", "logs", "--json")),
)


def milliseconds(argv: tuple[str, ...], where: Path, env: dict[str, str], rounds: int) -> list[float]:
    """The wall time of each round, sorted; the first round, which compiles, is left out."""
    found = []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *argv], cwd=where, env=env, capture_output=True, check=True)
        found.append((time.perf_counter() - begun) * 1000)
    return sorted(found[1:])


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The commands against a live daemon."""
    with project(folder) as made:
        made.script("demo-first", {"done": "nothing to do"})
        made.configure()
        made.start()
        env = made.environ(PYTHONPYCACHEPREFIX=str(folder / "bytecode"))
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        rounds = at_least(2, 30, scale)
        floor = statistics.median(milliseconds(FLOOR, made.root, env, rounds))
        for name, target, argv in COMMANDS:
            found = statistics.median(milliseconds(argv, made.root, env, rounds))
            yield Row(f"`{name}`", found, "ms", target, "the bare interpreter", floor)


if __name__ == "__main__":
    run(rows)
