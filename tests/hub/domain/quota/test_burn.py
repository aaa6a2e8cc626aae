"""The ledger keeps the moments a meter moved, and starts again where the past says nothing any more."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.quota.burn import MAX_EDGES, Burn, Rise, begin, observe, set_back
from hub.domain.quota.window import QuotaReading


def reading(used: int, at: float, resets_at: float | None = 10_000.0) -> QuotaReading:
    return QuotaReading("claude", "work", "five_hour", used, resets_at, "stream", at)


def fed(*readings: QuotaReading) -> Burn:
    burn = begin(readings[0])
    for item in readings[1:]:
        burn = observe(burn, item)
    return burn


def test_a_rise_lies_between_two_readings():
    burn = fed(reading(100, 0), reading(100, 60), reading(120, 100))
    assert burn.edges == (Rise(80, 120),)
    assert (burn.last, burn.since) == (reading(120, 100), 0)


def test_readings_without_a_rise_cost_nothing():
    """A poll every minute for a day must not fill the memory."""
    burn = fed(*(reading(420, at) for at in range(1000)))
    assert (burn.edges, burn.last.at) == ((), 999)


def test_what_is_told_again_changes_nothing():
    """The event log is read again after a crash."""
    told = [reading(100, 0), reading(110, 60), reading(130, 120)]
    burn = fed(*told)
    assert fed(*told, *told) == burn
    assert observe(burn, reading(990, 50)) == burn


def test_two_figures_of_one_moment_count_both():
    assert fed(reading(100, 0), reading(110, 60), reading(120, 60)).edges == (Rise(30, 110), Rise(60, 120))


@pytest.mark.parametrize(
    "after", [reading(600, 200), reading(950, 10_000.0), reading(990, 12_000.0, resets_at=30_000.0)]
)
def test_a_top_up_and_a_window_begun_anew_start_the_ledger_again(after):
    """A pace from before says nothing of what is left; a window whose reset has passed is another one."""
    assert fed(reading(800, 0), reading(900, 100), after) == begin(after)


def test_two_sources_that_round_differently_are_no_top_up():
    """The stream tells 93.4 %, the server 93 %: the pace seen so far still holds."""
    burn = fed(reading(900, 0), reading(934, 60), reading(930, 120))
    assert (len(burn.edges), burn.last.used_permille, burn.last.at) == (1, 934, 120)


def test_a_reading_without_a_reset_keeps_the_one_known():
    assert fed(reading(100, 0), reading(110, 60, resets_at=None)).last == reading(110, 60)


def test_a_finer_figure_shows_a_finer_meter():
    assert fed(reading(100, 0), reading(110, 60)).step == 10
    assert fed(reading(100, 0), reading(113, 60), reading(120, 90)).step == 1


def test_the_ledger_is_bounded():
    burn = fed(*(reading(used, float(used), resets_at=None) for used in range(MAX_EDGES + 50)))
    assert len(burn.edges) == MAX_EDGES
    assert burn.edges[-1].used == MAX_EDGES + 49


@given(st.lists(st.tuples(st.integers(0, 1200), st.floats(0, 1e6)), min_size=1))
def test_edges_rise_in_both(figures):
    """Whatever a meter says: the edges are in order, and end at the newest figure."""
    burn = fed(*(reading(used, at, None) for used, at in figures))
    assert all(a.at <= b.at and a.used < b.used for a, b in zip(burn.edges, burn.edges[1:], strict=False))
    assert all(edge.used <= burn.last.used_permille for edge in burn.edges)
    assert attrs.asdict(burn)


def test_a_meter_that_lags_behind_a_limit_is_not_believed():
    """Whoever believed 97 % after the limit was met would run into it again, and again."""
    met = begin(QuotaReading("x", "a", "w", 1000, 5000.0, "limit", 10.0))
    lagging = QuotaReading("x", "a", "w", 970, 5000.0, "endpoint", 20.0)
    assert observe(met, lagging) == met
    topped_up = attrs.evolve(lagging, used_permille=300)
    assert observe(met, topped_up).last == topped_up
    begun_anew = attrs.evolve(lagging, at=5001.0)
    assert observe(met, begun_anew).last == begun_anew


def test_the_course_begins_with_what_the_meter_showed_first():
    burn = fed(reading(100, 0), reading(120, 100))
    assert burn.course == (Rise(0, 100), Rise(50, 120))
    assert attrs.evolve(burn, first=None).course == (Rise(50, 120),)
    assert observe(burn, reading(20, 200)).course == (Rise(200, 20),)


def test_a_ledger_of_a_clock_that_was_ahead_is_as_long_and_ends_now():
    """The reset is its vendor's instant; the pace is as it was."""
    burn = fed(reading(100, 0), reading(110, 60), reading(120, 100))
    assert set_back(burn, 100) == burn
    assert set_back(burn, 40) == Burn(
        reading(120, 40), since=-60, edges=(Rise(-30, 110), Rise(20, 120)), first=100
    )
