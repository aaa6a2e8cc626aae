"""Figures and instants as a person reads them; what is none is shown as it is or not at all."""

import time

import pytest

from hub.web.page import words


@pytest.mark.parametrize("given", ["soon", "<b>", ["x"], {"a": 1}, 1e300, float("nan")])
def test_what_is_no_instant_is_no_error(given):
    """An agent may have filled the field."""
    assert "<b>" not in words.when(given)
    assert words.ago(given) == ""
    assert words.until(given) == ""
    assert words.clock(given) == words.seconds(given) == str(given)


def test_ago_and_until():
    assert words.ago(time.time() - 330) == "5 min"
    assert words.until(time.time() + 330) == "in 5 min"
    assert words.until(time.time() - 1) == "now"
    assert (
        words.ago(None) == words.until("") == words.when(None) == words.clock(None) == words.seconds("") == ""
    )


def test_an_instant_tells_the_whole_of_itself():
    told = words.when("2026-01-01T00:00:00.000Z")
    assert 'datetime="2026-01-01T00:00:00+00:00"' in told
    assert words.clock("2026-01-01T00:00:00.000Z") in told


def test_counts_money_and_shares():
    assert [words.count(n) for n in (None, 12, 9999, 12_400, 3_000_000)] == [
        "",
        "12",
        "9,999",
        "12.4 k",
        "3.00 M",
    ]
    assert [words.FILTERS["money"](n) for n in (None, 2)] == ["?", "$2.00"]
    assert [words.FILTERS["span"](n) for n in (None, 2)] == ["", "2 s"]
    assert [words.percent(n) for n in (None, 0.424)] == ["", "42 %"]
    assert words.minutes(90) == "90 min"
    assert words.minutes(None) == ""
    assert words.spoken("handing_off") == "handing off"
