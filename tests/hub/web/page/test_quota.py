"""Who burned a quota, and the line of a window."""

import xml.etree.ElementTree as ET

import pytest

from hub.api.convert import structure
from hub.api.quota import MeteredWindow
from hub.web.page.burn import burn, words_of
from hub.web.page.quota import spent
from tests.hub.web.fake import RISES, WINDOW
from tests.hub.web.page.test_gantt import event

NOW = 1_767_225_600.0


def window(**more):
    return structure(
        {**WINDOW, "resetsAt": "2026-01-01T02:00:00.000Z", "rises": RISES, **more}, MeteredWindow
    )


def test_a_sum_that_is_told_anew_is_counted_once():
    """An agent that tells the whole run's tokens with every step has not burned them each time."""
    step = {"provider": "a", "account": "x", "model": "m", "sessionId": "s-1"}
    found = spent(
        [
            event(1, "quota", tokensIn=10, tokensOut=1, **step),
            event(2, "quota", tokensIn=10, tokensOut=1, **step),
            event(3, "quota", tokensIn=100, cumulative=True, dispatchId="d", **{**step, "provider": "b"}),
            event(4, "quota", tokensIn=150, cumulative=True, dispatchId="d", **{**step, "provider": "b"}),
            event(5, "quota", tokensIn="many", used="much"),
        ]
    )
    assert [(one.account, one.tokens, one.share) for one in found] == [
        ("b/x", 150, 1.0),
        ("a/x", 22, 22 / 150),
    ]


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
