"""Every measurement has the one shape, says beside what it measures, is in the table and on the page."""

import inspect
import os
from importlib import import_module
from pathlib import Path

import pytest

from tests.bench.report import NAMES, rows_of
from tests.bench.table import Row, at_least, percentile

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.bench
@pytest.mark.parametrize("name", NAMES)
def test_bench(name, tmp_path, monkeypatch):
    """Measures and prints; fails when something is lost or wrong, never on a clock."""
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    found = list(rows_of(name)(tmp_path, float(os.environ.get("HUB_TEST_BENCH_SCALE", "1"))))
    print("", *(row.line() for row in found), sep="\n")
    assert found
    assert all(row.value >= 0 and row.unit for row in found)


@pytest.mark.parametrize("name", NAMES)
def test_each_measurement_has_the_one_shape(name):
    """So that nobody has to learn how the next one is run."""
    module = import_module(f"tests.bench.{name}")
    assert list(inspect.signature(module.rows).parameters) == ["folder", "scale"]
    assert "\nPeer: " in module.__doc__
    assert "run(rows)" in inspect.getsource(module)
    assert f"`{name}`" in (ROOT / "design" / "performance.md").read_text()


def test_the_page_is_one_table_and_every_target_is_judged():
    """The story of a figure stands at the head of its bench; the page says what is measured, and whether it is met."""
    text = (ROOT / "design" / "performance.md").read_text()
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line[:1] == "|"]
    assert rows[0] == ["What (measured by)", "Peer", "Target", "Figure", "Met"]
    assert text.count("|---") == len(rows[0])
    for what, _, target, figure, met in rows[2:]:
        assert figure, what
        assert bool(target) == bool(met), what


def test_a_row_is_a_line_of_the_page():
    row = Row("start", 1043.2, "ms", "<= 500", "bare stack", 691.0)
    assert row.line() == "| start | <= 500 | 1,043 ms | bare stack: 691 ms | 1.51 |"
    assert Row("memory", 0.0123, "MB").line() == "| memory |  | 0.0123 MB |  |  |"


def test_little_to_do_still_gives_figures():
    assert (at_least(3, 1000, 0.001), at_least(3, 1000, 0.5)) == (3, 500)
    assert (percentile([3, 1, 2], 0.5), percentile([1], 0.99)) == (2, 1)
