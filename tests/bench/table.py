"""What every measurement gives: rows of one table.

Owns: the row, how it is printed, and how a measurement is run by itself.
Must not: measure, or fail on a clock.

A file `bench_<what>.py` opens with what it measures and beside which peer, and has one function:

    rows(folder, scale=1.0) -> Iterator[Row]

`folder` is empty and its own; `scale` multiplies what there is to do, so that 0.01 shows that it works. Hub and its
peer are measured in turns, in the same run: only their ratio means anything on a machine that has other work.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs

Rows = Callable[[Path, float], Iterator["Row"]]

HEAD = "| what | target | hub | peer | ratio |\n|---|---|---|---|---|"


@attrs.frozen
class Row:
    """One line of the table."""

    what: str
    value: float
    unit: str
    target: str = ""
    """As in `<= 500`, in the same unit; "" where nothing was promised."""
    peer: str = ""
    """Who did the same, or the least anybody could do for it; "" where there is nobody."""
    peer_value: float = 0.0

    def line(self) -> str:
        """As a line of Markdown."""
        beside = f"{self.peer}: {_figure(self.peer_value)} {self.unit}" if self.peer else ""
        ratio = f"{self.value / self.peer_value:.2f}" if self.peer_value else ""
        return f"| {self.what} | {self.target} | {_figure(self.value)} {self.unit} | {beside} | {ratio} |"


def _figure(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percentile(values: Iterable[float], part: float) -> float:
    """The value below which this part of them lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def at_least(least: int, full: int, scale: float) -> int:
    """How much there is to do: `full` times the scale, but enough for the figures to exist."""
    return max(least, round(full * scale))


def run(*parts: Rows) -> None:
    """The main program of a measurement: prints the table of its rows. `--scale` does more or less of everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0, help="1 = the figures; 0.01 = does it work?")
    scale = parser.parse_args().scale
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, scale {scale:g}\n\n{HEAD}", flush=True)
    for part in parts:
        with tempfile.TemporaryDirectory() as directory:
            os.environ["HUB_STATE_DIR"] = f"{directory}/state"
            for row in part(Path(directory), scale):
                print(row.line(), flush=True)
