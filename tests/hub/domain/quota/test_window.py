"""Quota readings are taken from events as they are, and the fullest window decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.event import Event, EventType
from hub.domain.quota.window import (
    QuotaReading,
    Standing,
    breach,
    limit_of,
    newest,
    reading_of,
    standing,
)


def reading(
    used: int, window: str = "five_hour", resets_at: float | None = None, at: float = 0.0
) -> QuotaReading:
    return QuotaReading("claude", "work", window, used, resets_at, "stream", at)


def test_reads_a_quota_event():
    event = Event(EventType.QUOTA, "", {"used": 930, "window": "five_hour", "resetsAt": 1795236885})
    assert reading_of(event, "claude", "work", 7.0) == reading(930, resets_at=1795236885.0, at=7.0)


@pytest.mark.parametrize(
    "event",
    [
        Event(EventType.USAGE, "", {"used": 930}),
        Event(EventType.QUOTA, "", {}),
        Event(EventType.QUOTA, "", {"used": True}),
        Event(EventType.QUOTA, "", {"used": -1}),
        Event(EventType.QUOTA, "", {"used": 0.93}),
    ],
)
def test_anything_else_is_no_reading(event):
    assert reading_of(event, "claude", "work", 7.0) is None


@pytest.mark.parametrize("resets_at", [None, "soon", 0, -5, 1e300, 1_795_236_885_000])
def test_an_unusable_reset_is_unknown(resets_at):
    event = Event(EventType.QUOTA, "", {"used": 1, "window": 5, "resetsAt": resets_at})
    found = reading_of(event, "claude", "work", 7.0)
    assert (found.window, found.resets_at) == ("", None)


@pytest.mark.parametrize(("resets_at", "kept"), [(5000, 5000.0), (5, None)])
def test_a_usage_limit_fills_its_window_until_the_reset_unless_that_has_passed(resets_at, kept):
    """Gemini tells nothing of its quota before it is used up."""
    meta = {"failure": "usage_limit", "resetsAt": resets_at, "window": "day"}
    assert limit_of(meta, (), "gemini", "a", 7.0) == QuotaReading(
        "gemini", "a", "day", 1000, kept, "limit", 7.0
    )


@pytest.mark.parametrize("meta", [{"failure": "overload", "resetsAt": 5000}, {}])
def test_what_is_no_limit_tells_nothing(meta):
    assert limit_of(meta, (), "gemini", "a", 7.0) is None


def test_the_newest_reading_of_each_window_counts():
    readings = [reading(100, at=1), reading(200, at=2), reading(150, at=1.5), reading(7, "seven_day", at=0)]
    assert [r.used_permille for r in newest(readings, 0.0).values()] == [200, 7]


def test_a_window_that_began_anew_says_nothing():
    assert newest([reading(990, resets_at=10.0)], now=10.0) == {}
    assert len(newest([reading(990, resets_at=10.0), reading(5, "seven_day")], now=9.0)) == 2


def test_breach_is_at_the_threshold_and_not_below():
    assert breach([reading(899)], 0.9) is None
    assert breach([reading(900)], 0.9) == reading(900)
    assert breach([], 0.5) is None


def test_the_fullest_window_is_the_breach_and_of_equals_the_one_that_lasts_longer():
    short, week = reading(1000, resets_at=5.0), reading(1000, "seven_day", resets_at=9.0)
    assert breach([reading(950, "opus"), week, short], 0.9) == week


@given(st.lists(st.integers(0, 1200).map(reading)), st.floats(0.001, 1))
def test_breach_agrees_with_its_definition(readings, threshold):
    found = breach(readings, threshold)
    over = [r.used_permille for r in readings if r.used_permille >= round(threshold * 1000)]
    assert (found.used_permille if found else None) == max(over, default=None)


def test_a_limit_without_a_reset_has_the_one_its_window_told_before():
    """decisions 0005: a reset is never guessed; what an earlier reading told is no guess."""
    known = [
        QuotaReading("x", "a", "five_hour", 950, 5000.0, at=1.0),
        QuotaReading("x", "a", "seven_day", 990, 9000.0, at=1.0),
        QuotaReading("x", "a", "old", 1000, 2.0, at=1.0),
        QuotaReading("x", "a", "bare", 1000, None, at=1.0),
    ]
    limit = {"failure": "usage_limit"}

    def undated(**meta):
        found = limit_of({**limit, **meta}, known, "x", "a", 7.0)
        return found.window, found.used_permille, found.resets_at, found.source

    assert undated(window="five_hour") == ("five_hour", 1000, 5000.0, "limit")
    assert undated() == ("seven_day", 1000, 9000.0, "limit"), "of several the fullest is the wall"
    assert undated(window="other") == ("other", 1000, None, "limit")
    assert undated(window="minute") == ("minute", 1000, 67.0, "limit")
    assert limit_of({"failure": "overload"}, known, "x", "a", 7.0) is None
    assert limit_of(limit, known[:0], "x", "a", 7.0).resets_at is None


def test_an_account_stands_by_its_last_reset_of_the_windows_that_are_full():
    def reading(used, resets_at, at, source="stream"):
        return QuotaReading("x", "a", "w", used, resets_at, source, at)

    assert standing([]) == Standing(full=False)
    assert standing([reading(999, 10.0, 3.0), reading(1, None, 5.0)]) == Standing(full=False, at=5.0)
    full = [
        reading(1000, 10.0, 3.0),
        reading(1200, 20.0, 4.0),
        reading(1000, None, 2.0),
        reading(1, 99.0, 9.0),
    ]
    assert standing(full) == Standing(full=True, until=20.0, at=4.0)
    cap = [reading(1100, 10.0, 3.0, "declared"), reading(400, 99.0, 1.0)]
    assert standing(cap) == Standing(full=True, until=10.0, at=3.0, cap=True)
