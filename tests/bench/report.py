"""One table of everything that is measured: target, hub, peer and their ratio, in this run on this machine.

`nox -s bench`, or `python -m tests.bench.report [--scale 0.01]`. A single one: `python -m tests.bench.bench_start`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.bench.table import Rows, run

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))


def rows_of(name: str) -> Rows:
    """The measurement of one file."""
    rows: Rows = import_module(f"tests.bench.{name}").rows
    return rows


if __name__ == "__main__":
    run(*map(rows_of, NAMES))
