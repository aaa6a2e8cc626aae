"""Zones are read strictly, wall clocks through every change."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain import wallclock
from tests.clock import in_zone


@pytest.mark.parametrize("name", ["UTC", "utc", "GMT", "Z"])
def test_utc_needs_no_time_zone_data(name):
    assert wallclock.zone(name) is UTC


@pytest.mark.parametrize(
    ("name", "hours"), [("UTC+2", 2), ("GMT-07:00", -7), ("+05:30", 5.5), ("-0330", -3.5)]
)
def test_reads_offsets(name, hours):
    assert wallclock.zone(name).utcoffset(None) == timedelta(hours=hours)


@pytest.mark.parametrize("stamp", [1_795_435_200.5, "2026-11-23T12:00:00.500Z"])
def test_an_instant_on_this_machines_clock(stamp):
    with in_zone("Europe/Berlin"):
        assert wallclock.local(stamp).isoformat() == "2026-11-23T13:00:00.500000+01:00"


def test_this_machines_clock_changes_as_its_zone_does():
    """Berlin goes back on 25 October 2026: an offset that was taken before it is an hour wrong behind it."""
    zone = ZoneInfo("Europe/Berlin")
    with in_zone("Europe/Berlin"):
        for day, hour in product((date(2026, 3, 29), date(2026, 10, 24), date(2026, 10, 25)), range(24)):
            clock = time(hour, 30)
            assert wallclock.instants(day, clock, wallclock.HERE) == wallclock.instants(day, clock, zone)
        moment = datetime.fromtimestamp(1_795_435_200, wallclock.HERE)
        assert (moment.hour, moment.tzname(), moment.dst()) == (13, "CET", None)
        for minute in range(0, 180, 30):  # the hour that comes twice, and those about it
            moment = datetime(2026, 10, 25, tzinfo=UTC) + timedelta(minutes=minute)
            assert moment.astimezone(wallclock.HERE).astimezone(UTC) == moment
    assert wallclock.HERE.utcoffset(None) is wallclock.HERE.tzname(None) is None


@pytest.mark.parametrize("name", ["UTC-25", "UTC+25", "UTC-24", "UTC+99"])
def test_a_clock_a_day_or_more_off_is_read_as_utc(name):
    """The C library takes such a `TZ`, Python no such offset: every time that was told was an error."""
    with in_zone(name):
        at = 1_795_435_200.5
        assert wallclock.moment(at, at) == "12:00"
        assert wallclock.seconds("2026-11-23T12:00:07.500Z") == "12:00:07"
        assert wallclock.local("2026-11-23T12:00:00.500Z").isoformat() == "2026-11-23T12:00:00.500000+00:00"
        moment = datetime.fromtimestamp(at, wallclock.HERE)
        assert (moment.hour, moment.tzname(), moment.timestamp()) == (12, "UTC", at)
        assert (
            wallclock.respoken("until 2026-11-23T12:00:00Z", lambda at: f"{at:%d %H:%M %Z}")
            == "until 23 12:00 UTC"
        )
        assert wallclock.instants(date(2026, 11, 23), time(12), wallclock.HERE) == [1_795_435_200]


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        ("2026-11-23T12:00:07.500Z", "13:00:07"),
        ("12:00:07.500", "12:00:07"),
        ("soon", "soon"),
        (1e99, "1e+99"),
    ],
)
def test_the_time_of_day_to_the_second(stamp, said):
    """A record's own, where it lacks its day; and whatever an agent has put there."""
    with in_zone("Europe/Berlin"):
        assert wallclock.seconds(stamp) == said


def test_an_instant_of_another_day_is_told_with_its_day():
    noon = 1_795_435_200.0
    with in_zone("Europe/Berlin"):
        assert wallclock.moment("2026-11-23T22:30:00.000Z", noon) == "23:30"
        assert wallclock.moment("2026-11-23T23:30:00.000Z", noon) == "24 Nov 00:30"


def test_reads_iana_keys():
    assert wallclock.zone("Europe/Oslo") == ZoneInfo("Europe/Oslo")


@pytest.mark.parametrize(
    "name",
    ["", "Mars/Olympus", "PST", "Europe", "+15:00", "../etc/passwd", "/etc/localtime", "a" * 99, "\x00"],
)
def test_an_unknown_zone_is_none_and_never_a_path(name):
    assert wallclock.zone(name) is None


def test_no_time_zone_data_on_the_machine_is_an_unknown_zone(monkeypatch):
    """A slim container has no tzdata: the reset is unknown there, and nothing crashes."""

    def missing(key):
        raise KeyError(key)

    monkeypatch.setattr("zoneinfo.ZoneInfo", missing)
    assert wallclock.zone("Europe/Oslo") is None


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2037, 1, 1)),  # noqa: DTZ001  # wall clocks have no zone
    st.sampled_from(["Europe/Oslo", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"]),
)
def test_instants_are_ordered_and_show_the_clock_or_lie_after_a_gap(moment, name):
    tz = ZoneInfo(name)
    clock = time(moment.hour, moment.minute)
    found = wallclock.instants(moment.date(), clock, tz)
    assert found == sorted(set(found))
    shown = [datetime.fromtimestamp(at, tz) for at in found]
    assert all(s.time() == clock for s in shown) or (len(shown) == 1 and shown[0].time() > clock)


def test_occurrences_can_be_bound_to_a_weekday():
    now = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
    found = list(wallclock.occurrences(now, time(9), UTC, weekday=0))
    assert [datetime.fromtimestamp(at, UTC).isoformat() for at in found] == ["2026-11-23T09:00:00+00:00"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("until 2026-11-24 07:53:03 UTC; then", "until <08:53>; then"),
        ("resets 2026-11-24T07:53:03.000Z.", "resets <08:53>."),
        ("at 2026-13-99T07:53:03Z", "at 2026-13-99T07:53:03Z"),
        ("2026-11-24 07:53:03", "2026-11-24 07:53:03"),
    ],
)
def test_instants_in_a_text_are_said_again(text, said):
    with in_zone("Europe/Berlin"):
        assert wallclock.respoken(text, lambda at: f"<{at:%H:%M}>") == said
