"""The wallet: the wall of an account is the window that ends the work first."""

import pytest

from hub.domain.quota.burn import Rise, begin
from hub.domain.quota.forecast import Forecast, Outlook
from hub.domain.quota.wallet import Alarm, Prospect, alarm, binding, prospect, said, wall
from hub.domain.quota.window import QuotaReading

NOW = 1_795_000_000.0
HOUR = 3600.0
UNKNOWN = Forecast(Outlook.ACCUMULATING)


def seen(used, window="five_hour", resets_in=HOUR, found=UNKNOWN, **more):
    resets_at = None if resets_in is None else NOW + resets_in
    source, cap = more.get("source", "stream"), more.get("cap")
    return Prospect(QuotaReading("claude", "work", window, used, resets_at, source, NOW - 5), found, cap)


def soon(eta, rate=5.0):
    return Forecast(Outlook.READY, rate, eta, eta / 2, eta * 2)


def test_the_threshold_alone_decides_where_no_pace_is_known():
    assert wall([seen(900)], 0.9, NOW) == seen(900).reading
    assert wall([seen(899)], 0.9, NOW) is None
    assert wall([], 0.9, NOW) is None


def test_a_window_that_lasts_until_its_reset_is_no_wall():
    """The forecast may trigger at the threshold; where nine cases of ten end after the reset it does not."""
    assert wall([seen(950, resets_in=600, found=soon(40))], 0.9, NOW) is None
    assert wall([seen(950, resets_in=600, found=soon(18))], 0.9, NOW) is not None
    assert wall([seen(950, resets_in=None, found=soon(1000))], 0.9, NOW) is not None


def test_a_full_window_is_a_wall_whatever_the_pace():
    idle = Forecast(Outlook.IDLE, rate=0.0)
    assert wall([seen(999, found=idle)], 0.9, NOW) is None
    assert wall([seen(1000, found=idle)], 0.9, NOW) is not None


def test_the_fullest_window_is_named_and_of_equals_the_one_that_lasts_longer():
    week = seen(950, "seven_day", resets_in=100 * HOUR)
    assert wall([seen(950), week, seen(920, "opus")], 0.9, NOW) == week.reading


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (seen(600, found=soon(20)), seen(950, "seven_day", resets_in=100 * HOUR)),  # an expected wall
        (seen(700, found=soon(20)), seen(700, "seven_day", found=soon(50))),  # the nearer of two
        (seen(500, "seven_day"), seen(400)),  # the fuller one
        (seen(800, "seven_day"), seen(500, resets_in=600, found=soon(90))),  # a reset comes before the wall
        (seen(1000), seen(990, "seven_day", found=soon(1))),  # one that is full
        (seen(1000, "seven_day", resets_in=100 * HOUR), seen(1000)),  # the one that comes back last
    ],
)
def test_the_wall_is_the_window_that_ends_the_work_first(first, second):
    assert binding([first, second], NOW) == first
    assert binding([second, first], NOW) == first


@pytest.mark.parametrize(
    ("found", "grave"),
    [
        (seen(1000), Alarm.FULL),
        (seen(900), Alarm.NEAR),
        (seen(600, found=soon(30)), Alarm.AHEAD),
        (seen(600, found=soon(61), resets_in=9 * HOUR), Alarm.QUIET),
        (seen(600, found=soon(30), resets_in=600), Alarm.QUIET),
        (seen(600), Alarm.QUIET),
    ],
)
def test_how_near_a_wall_is(found, grave):
    assert alarm(found, 0.9, NOW) is grave


def test_a_line_for_people():
    line = said(seen(600, found=soon(30)), NOW)
    assert line == (
        "five_hour 60 % used, burning 0.5 % a minute, wall in about 30 min (15 to 60), "
        "resets 2026-11-18T12:06:40.000Z"
    )
    assert said(seen(425, "", resets_in=None), NOW) == "quota 42.5 % used"


def test_a_prospect_is_of_one_moment():
    reading = seen(100).reading
    assert prospect(begin(reading), NOW, 5) == Prospect(reading, UNKNOWN, 5, (Rise(reading.at, 100),))
