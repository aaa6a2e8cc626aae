"""Who burned a quota, and the line of a window."""

import xml.etree.ElementTree as ET

import pytest

from hub.api.quota import MeteredWindow
from hub.web.page.burn import burn, words_of
from hub.web.page.quota import spenders
from tests.sample import whole

NOW = 1_767_225_600.0


RISES = [
    {"at": "2025-12-31T23:30:00.000Z", "fractionUsed": 0.1},
    {"at": "2025-12-31T23:59:00.000Z", "fractionUsed": 0.4},
]
FIGURES = {
    "window": "five_hour", "fractionUsed": 0.42, "burnPerMin": 0.5, "etaMinutes": 116.0, "etaLowMinutes": 80.0,
    "etaHighMinutes": 150.0, "forecast": "ready", "resetsAt": "2026-01-01T02:00:00.000Z", "rises": RISES,
}  # fmt: skip


def window(**more):
    return whole(MeteredWindow, **{**FIGURES, **more})


def test_all_that_was_burned_is_in_the_picture():
    """Six are named, the others are one part; a session that is gone keeps its id."""
    many = [{"sessionId": f"s-{n}", "model": "m", "tokens": 100 - n} for n in range(40)]
    drawn = ET.fromstring(spenders(window(burned=many), {"s-0": "Port it"}))
    words = [part[0].text for part in drawn.iter("rect")]
    assert words[:2] == ["Port it: 100 tokens", "s-1: 99 tokens"]
    assert words[6:] == ["others: 2,635 tokens"]
    widths = [float(part.get("width")) for part in drawn.iter("rect")]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert widths[6] == pytest.approx(100 * 2635 / sum(one["tokens"] for one in many), abs=0.01)


@pytest.mark.parametrize(("screen", "width"), [(0, 760), (1, 300)])
def test_the_line_the_crossing_and_the_reset_are_within_the_picture(screen, width):
    """On a wide screen and on a phone: each has a picture of its own, so that letters are the same size."""
    drawn = ET.fromstring(burn(window(), NOW)[screen])
    kinds = [part.get("class") for part in drawn]
    assert {"burn", "projected", "band", "wall", "now", "reset"} <= set(kinds)
    line = next(part for part in drawn if part.get("class") == "burn")
    assert len(line.get("points").split()) == len(RISES) + 2
    for part in drawn.iter("polyline"):
        for point in part.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= 180
    assert "the wall is expected in 116 min" in drawn.get("aria-label")


def test_what_nobody_told_has_no_picture():
    assert set(burn(window(fractionUsed=None), NOW)) == {""}
    plain = window(etaMinutes=None, etaLowMinutes=None, etaHighMinutes=None, resetsAt=None, readAt=None)
    assert not any("projected" in drawn for drawn in burn(plain, NOW))
    assert words_of(plain) == "five hour: 42 % used"
