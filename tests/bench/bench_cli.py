"""What a command costs from its start to its end: the latency a prompt, a script or an impatient person feels.

Each is a process of its own, as installed, with its bytecode compiled; the floor is the bare interpreter.
Targets, for people who look: --version 60 ms, --help 80 ms, status --json against a live daemon 120 ms.
Run it: `pytest tests/bench/bench_cli.py -m bench -s`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.harness import project

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "30"))
FLOOR = ("the bare interpreter", ("-c", "pass"))
COMMANDS = (
    ("hub --version", ("-m", "hub", "--version")),
    ("hub --help", ("-m", "hub", "--help")),
    ("hub status --json", ("-m", "hub", "status", "--json")),
    ("hub logs --json", ("-m", "hub", "logs", "--json")),
)


def milliseconds(argv: tuple[str, ...], where: Path, env: dict[str, str]) -> list[float]:
    """The wall time of each round, sorted; the first round, which compiles, is left out."""
    found = []
    for _ in range(ROUNDS + 1):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *argv], cwd=where, env=env, capture_output=True, check=True)
        found.append((time.perf_counter() - begun) * 1000)
    return sorted(found[1:])


@pytest.mark.bench
def test_commands_against_a_live_daemon(tmp_path):
    """Prints the table; never fails on a clock."""
    with project(tmp_path) as made:
        made.script("demo-first", {"done": "nothing to do"})
        made.configure()
        made.start()
        env = made.environ(PYTHONPYCACHEPREFIX=str(tmp_path / "bytecode"))
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        print(f"\n{'command':<24}{'p50 ms':>8}{'p95 ms':>8}{'min ms':>8}")
        for name, argv in (FLOOR, *COMMANDS):
            times = milliseconds(argv, made.root, env)
            print(
                f"{name:<24}{statistics.median(times):>8.0f}{times[int(len(times) * 0.95)]:>8.0f}{times[0]:>8.0f}"
            )
