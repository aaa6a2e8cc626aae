"""Reset times are read from the agents' real words, and never guessed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.quota.resets import DAY, GRACE, HORIZON, IMPLIED_HORIZON, parse_reset
from hub.domain.wallclock import HERE
from tests.clock import in_zone

OSLO = ZoneInfo("Europe/Oslo")
NEW_YORK = ZoneInfo("America/New_York")


def at(text: str, zone=UTC) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


NOW = at("2026-11-21T03:00:00")

CODEX = (
    "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at {}."
)

REAL = [
    # text, expected instant. The clock of the machine is Europe/Oslo.
    ("You've hit your 5-hour limit \u00b7 resets 4:54am (UTC)", at("2026-11-21T04:54")),
    ("You\u2019ve hit your limit \u00b7 resets 3pm (Europe/Oslo)", at("2026-11-21T15:00", OSLO)),
    (CODEX.format("4:53 AM"), at("2026-11-21T04:53", OSLO)),
    (CODEX.format("4:53\u202fAM"), at("2026-11-21T04:53", OSLO)),
    (CODEX.format("4:53\u00a0AM"), at("2026-11-21T04:53", OSLO)),
    (CODEX.format("3:05 AM"), at("2026-11-22T03:05", OSLO)),
    (CODEX.format("Nov 23rd, 2026 4:12 PM"), at("2026-11-23T16:12", OSLO)),
    ("Try again in 7 days 3 hours.", NOW + 7 * DAY + 3 * 3600),
    ("in 2h 15m", NOW + 8100),
    ("Your limit resets in 2h 15m", NOW + 8100),
    ("limit: 50, model: gemini-2.5-pro\\nPlease retry in 7200s.", NOW + 7200),
    ("Attempt 2 failed: x. Suggested retry after 2s.. Retrying after 10000ms", NOW + 10),
    ("Retrying in 8.0 seconds...", NOW + 8),
    ("(RPM): Limit 3, Used 3, Requested 1. Please try again in 2s.", NOW + 2),
    ("Please try again in 1.384s", NOW + 1.384),
    ("Your quota will reset after 7h12m33s.", NOW + 25953),
    ("Try again in 1 hour and 5 minutes", NOW + 3900),
    ("x-ratelimit-reset-requests: 6m0s", NOW + 360),
    ('{"retryDelay": "7200s"}', NOW + 7200),
    ('{"primary":{"used_percent":100.0,"resets_at":1795236827}}', 1795236827.0),
    ('{"resetsAt":1795236827000}', 1795236827.0),
    ("anthropic-ratelimit-unified-5h-reset: 1795236877", 1795236877.0),
    ("Claude AI usage limit reached|1795236827", 1795236827.0),
    ('{"five_hour":{"resets_at":"2026-11-23T16:12:00Z"}}', at("2026-11-23T16:12")),
    ("resets at 2026-11-23T16:12:00.123456789+02:00", at("2026-11-23T14:12:00.123456")),
    ("try again at 2026-11-23 16:12 UTC", at("2026-11-23T16:12")),
    ("retry-after: 2", NOW + 2),
    ('"resets_in_seconds":120', NOW + 120),
    ("retry-after-ms: 1500", NOW + 1.5),
    ('{"maxRetries":10,"delayMs":60000}', NOW + 60),
    ("Retry-After: Mon, 23 Nov 2026 16:12:00 GMT", at("2026-11-23T16:12")),
    ("resets Nov 23 at 3pm (Europe/Oslo)", at("2026-11-23T15:00", OSLO)),
    ("resets Nov 23, 3pm (UTC)", at("2026-11-23T15:00")),
    ("resets Monday at 3pm (UTC)", at("2026-11-23T15:00")),
    ("resets tomorrow at 9am (UTC)", at("2026-11-22T09:00")),
    ("resets today at 9am (UTC)", at("2026-11-21T09:00")),
    ("resets at 16:30 UTC+2", at("2026-11-21T14:30")),
    ("resets at 12am (UTC)", at("2026-11-22T00:00")),
    ("resets at 12:15 p.m. (UTC)", at("2026-11-21T12:15")),
    # A text in JSON in JSON, on a coloured screen, and with the dashes of a typesetter.
    (r"{\"details\":[{\"retryDelay\":\"19.5s\"}]}", NOW + 19.5),
    (r"quota exceeded\\nresets 4:54am (UTC)", at("2026-11-21T04:54")),
    ("\x1b[31mresets \x1b[1m4:54am\x1b[0m (UTC)", at("2026-11-21T04:54")),
    ("retry\u2011after: 120", NOW + 120),
    ("resets 4:54am (UTC\u22128)", at("2026-11-21T12:54")),
    ('"quotaResetDelay":"8h32m11.5s"', NOW + 30731.5),
    ('"quotaResetTimeStamp":"2026-11-23T16:12:00Z"', at("2026-11-23T16:12")),
    ("Try again in less than a minute.", NOW + 60),
    ("Please try again in an hour and 5 minutes", NOW + 3900),
    ("You will regain access on 2026-12-01 at 00:00 UTC.", at("2026-12-01T00:00")),
    # The day behind the time of day: it was read as of today.
    ("You can try again at 4:53 AM on Nov 23", at("2026-11-23T04:53", OSLO)),
    ("resets at 4pm on Nov 23, 2026 (UTC)", at("2026-11-23T16:00")),
    ("resets 16:00 UTC on 23 November", at("2026-11-23T16:00")),
    ("resets at 9am tomorrow (UTC)", at("2026-11-22T09:00")),
    ("resets 9am on Monday (UTC)", at("2026-11-23T09:00")),
    ("try again at 5pm today (UTC)", at("2026-11-21T17:00")),
    ("resets 4pm. Monday is another day", at("2026-11-21T16:00", OSLO)),
    # A zone behind a comma: the machine's was taken for it.
    ("resets at 3pm, UTC", at("2026-11-21T15:00")),
    ("Resets at 3:00 p.m., Europe/Berlin", at("2026-11-21T14:00")),
    ("resets at midnight UTC", at("2026-11-22T00:00")),
    ("resets at noon (UTC)", at("2026-11-21T12:00")),
    ("resets 2026/11/23 16:12 UTC", at("2026-11-23T16:12")),
    ("RateLimit-Reset: 3600", NOW + 3600),
    ("x-ratelimit-reset-after: 30", NOW + 30),
    # What is told of another limit, or begins as a day's name does, is no day: a session would wait for it.
    ("You've hit your limit \u00b7 resets 5pm (UTC) \u00b7 Monthly limit 80% used", at("2026-11-21T17:00")),
    ("resets 5pm (UTC), Monthly plan", at("2026-11-21T17:00")),
    ("resets 5pm UTC Friendly reminder: upgrade", at("2026-11-21T17:00")),
    ("resets at 17:00 UTC Sunset plan", at("2026-11-21T17:00")),
    ("resets 8pm UTC 3 Decimals left", at("2026-11-21T20:00")),
    ("resets 5pm (UTC) \u00b7 Monday is another day", at("2026-11-21T17:00")),
    ("resets 5pm (UTC)\nMonday is another day", at("2026-11-21T17:00")),
    (r"resets 5pm (UTC)\nNov 23: a new plan", at("2026-11-21T17:00")),
    ("resets 5pm (UTC) Tues", at("2026-11-24T17:00")),
    ("resets 5pm UTC on Thursday", at("2026-11-26T17:00")),
    ("resets 5pm UTC, Sept 23", at("2026-11-21T17:00")),  # no year, and not within 35 days
    # But what a terminal breaks is one.
    ("Your limit\nresets Monday\nat 3pm\n(UTC)", at("2026-11-23T15:00")),
    ("try again in 3\nhours", NOW + 3 * 3600),
    # What was restored, lifted or resumed is no limit.
    ("Session restored at 10:30. You've hit your limit, resets 5pm (UTC)", at("2026-11-21T17:00")),
    ("Checkpoint restored in 2s. Limit resets in 3 hours", NOW + 3 * 3600),
    ("Embargo lifted 10:00, resets 7pm (UTC)", at("2026-11-21T19:00")),
    # Whose clock it is, not which zone.
    ("resets 3pm Local time", at("2026-11-21T15:00", OSLO)),
    ("resets at 3:00 PM Your time", at("2026-11-21T15:00", OSLO)),
    ("resets 3pm Server time", at("2026-11-21T15:00", OSLO)),
    ("resets 3pm \u00b7 Next time, upgrade", at("2026-11-21T15:00", OSLO)),
    ("resets 3pm Next time, upgrade", at("2026-11-21T15:00", OSLO)),
    ("resets at 12:00 midnight (UTC)", at("2026-11-22T00:00")),
    ("resets at 12 midnight (UTC)", at("2026-11-22T00:00")),
    ("resets at 12 noon (UTC)", at("2026-11-21T12:00")),
    # The header of any limit, after what is told of the one that was hit.
    ("x-ratelimit-reset: 1\nretry-after: 7200\nserver: x", NOW + 7200),
    ("x-ratelimit-reset: 60\nYour limit resets at 4pm (UTC)", at("2026-11-21T16:00")),
    ("x-ratelimit-reset: 0 try again in 5 minutes", NOW + 300),
    # A day alone begins at midnight.
    ("You've hit your weekly limit \u00b7 resets Dec 1", at("2026-12-01T00:00", OSLO)),
    ("resets 1 December 2026 (UTC)", at("2026-12-01T00:00")),
    ("resets on 2026-12-01 (UTC), or upgrade", at("2026-12-01T00:00")),
]


@pytest.mark.parametrize(("text", "expected"), REAL, ids=[row[0][-40:] for row in REAL])
def test_reads_what_agents_say(text, expected):
    assert parse_reset(text, NOW, OSLO) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "This request would exceed your account's rate limit. Please try again later.",
        "usually temporary \u2014 try again in a moment.",
        "resets 3pm (Mars/Olympus)",
        "resets 3pm PST",  # an abbreviation names several zones
        "resets 3pm (Pacific Time)",
        "resets 3pm Pacific time",
        "resets at midnight Pacific Time",
        "resets at 15h00",
        "try again in 1h30",
        "resets 3",
        "resets 13pm (UTC)",
        "resets at 25:00",
        "resets at 2026-13-45T10:00:00Z",
        "resets at 2026-11-23T16:12:00 (Mars/Olympus)",
        "try again at Feb 30th, 2026 4:12 PM",
        "resets Feb 1 at 3pm",  # no year, and not within 35 days
        "resets Nov 23 at 25:00",
        "resets Dec 12:30",
        "resets on 2026-12-01 25:00",
        "twice the usage is available until Dec 1",
        "resets Nov 23 at 3pm (Mars/Olympus)",
        "Completed in 2h 15m",
        "The build took 30s, 2026-11-23T16:12:00Z, 4:53 AM",
        "resets_at: 1000000000",  # 2001
        "resets_at: 9999999999",  # 2286
        "try again in 9999 days",
        "try again in 400 days",
        f"resets_at: {NOW + 400 * DAY:.0f}",
        "try again at Nov 23rd, 9999 4:12 PM",
        "ratelimit-reset: 0",  # a limit that was not hit
        "reset: 60",  # seconds or an instant? It does not say.
    ],
)
def test_does_not_guess(text):
    assert parse_reset(text, NOW, OSLO) is None


def test_a_time_without_a_zone_needs_the_zone_of_the_clock_that_said_it():
    for text in (
        CODEX.format("4:53 AM"),
        CODEX.format("Nov 23rd, 2026 4:12 PM"),
        "resets at 2026-11-23 16:12",
    ):
        assert parse_reset(text, NOW, None) is None


@pytest.mark.parametrize(
    "told", ["2026-11-23 16:12", "2026-11-23T16:12:00", "2026-12-01, or upgrade", "16:12"]
)
def test_a_time_in_figures_without_a_zone_is_no_instant(told):
    """Agents write am, pm or a month: figures are a server's words that they hand on, by a clock somewhere."""
    assert parse_reset(f"resets at {told}", NOW, OSLO) is None
    assert parse_reset(f"resets at {told.partition(',')[0]} (UTC)", NOW, None) is not None


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "Dec 31, 9999", "Jan 1, 0001"])
@pytest.mark.parametrize("clock", ["23:59", "00:00", "12:00 AM", "11:59 PM"])
@pytest.mark.parametrize("zone", [HERE, OSLO, None])
@pytest.mark.parametrize("told", ["", " UTC", " UTC+14", " UTC-14", " (America/New_York)"])
def test_the_edges_of_the_calendar_are_no_reset(day, clock, zone, told):
    """This machine's clock has no offset there, and the session ended as an error of hub's own."""
    for name in ("Europe/Oslo", "America/New_York"):
        with in_zone(name):
            assert parse_reset(f"Usage limit reached, resets at {day} {clock}{told}", NOW, zone) is None


def test_an_instant_that_just_passed_means_now():
    """Words travel for a while: 4:53 read at 4:53:40 must not become tomorrow."""
    now = at("2026-11-21T04:53:40")
    assert parse_reset("resets 4:53am (UTC)", now, None) == now
    assert parse_reset(f"resets_at: {int(now) - 5}", now, None) == now
    later = now + GRACE
    assert parse_reset("resets 4:53am (UTC)", later, None) == at("2026-11-22T04:53")


def test_the_first_sensible_match_of_a_row_wins():
    assert parse_reset("resets_at: 1000000000, resets_at: 1795236827", NOW, None) == 1795236827.0


def test_a_reset_in_the_hour_that_a_forward_change_skips_falls_after_the_gap():
    now = at("2026-03-29T01:00", OSLO)  # 02:00 becomes 03:00
    assert parse_reset("resets 2:30am", now, OSLO) == at("2026-03-29T03:30", OSLO)


def test_a_reset_in_the_hour_that_comes_twice_is_its_next_occurrence():
    first, second = at("2026-11-01T05:30"), at("2026-11-01T06:30")  # 01:30 EDT, 01:30 EST
    assert parse_reset("resets 1:30am", first - 600, NEW_YORK) == first
    assert parse_reset("resets 1:30am", first + 600, NEW_YORK) == second


@pytest.mark.parametrize(
    ("text", "now", "expected"),
    [
        # Berlin goes from 2:00 to 3:00 on 29 March and back on 25 October, New York on 8 March and 1 November.
        ("resets 2:30am Sunday (Europe/Berlin)", "2026-03-27T12:00", "2026-03-29T01:30"),
        ("resets at 2:30 AM on Mar 29 (Europe/Berlin)", "2026-03-27T12:00", "2026-03-29T01:30"),
        ("resets 9am tomorrow (Europe/Berlin)", "2026-03-28T12:00", "2026-03-29T07:00"),
        ("resets at midnight Europe/Berlin", "2026-10-25T12:00", "2026-10-25T23:00"),
        ("resets 2:30am, Oct 25 (Europe/Berlin)", "2026-10-24T12:00", "2026-10-25T01:30"),
        ("resets 2:30am tomorrow (America/New_York)", "2026-03-07T20:00", "2026-03-08T07:30"),
        ("resets at 12 noon, America/New_York", "2026-03-08T06:00", "2026-03-08T16:00"),
        ("resets 1:30am tomorrow (America/New_York)", "2026-10-31T20:00", "2026-11-01T06:30"),
    ],
)
def test_a_day_behind_the_time_holds_where_clocks_change(text, now, expected):
    assert parse_reset(text, at(now), OSLO) == at(expected)


def test_a_date_in_the_hour_that_comes_twice_is_the_later_one():
    """A date is said once; coming an hour late costs less than burning the attempt."""
    now = at("2026-10-30T00:00")
    assert parse_reset("resets Nov 1 at 1:30am", now, NEW_YORK) == at("2026-11-01T06:30")


def test_a_date_without_a_year_may_fall_into_the_next():
    now = at("2026-12-30T00:00")
    assert parse_reset("resets Jan 2 at 3pm (UTC)", now, None) == at("2027-01-02T15:00")


def test_long_noise_is_read_in_bounded_time():
    """Patterns are bounded: a megabyte of near-matches must not hang the daemon (security row 45)."""
    for noise in ("resets ", "try again in 1h", "retry after 1 ", "9", "resets Nov 1", "1h"):
        assert (
            parse_reset(noise * (1_000_000 // len(noise)) + "\nresets_at: 1795236827", NOW, None) is not None
        )


moments = st.integers(int(at("2024-01-01T00:00")), int(at("2030-01-01T00:00"))).map(float)
zones = st.sampled_from(
    ["UTC", "Europe/Oslo", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"]
)


@given(moments, zones, st.integers(1, 12), st.integers(0, 59), st.sampled_from(["am", "pm"]))
def test_a_wall_clock_is_its_next_occurrence_at_most_a_day_and_a_change_away(now, zone, hour, minute, half):
    reset = parse_reset(f"resets {hour}:{minute:02d}{half} ({zone})", now, None)
    assert now <= reset <= now + DAY + 2 * 3600
    if reset > now:
        local = datetime.fromtimestamp(reset, ZoneInfo(zone))
        assert local.minute in (
            minute,
            (minute + 30) % 60,
        )  # half an hour where a change of that size skips it


@given(moments, st.integers(0, 34), st.integers(0, 23), st.integers(0, 59))
def test_a_date_without_a_year_round_trips_within_35_days(now, days, hour, minute):
    moment = datetime.fromtimestamp(now, UTC).replace(hour=hour, minute=minute, second=0) + timedelta(
        days=days
    )
    reset = parse_reset(f"resets {moment:%b} {moment.day} at {moment:%H:%M} (UTC)", now, None)
    if moment.timestamp() >= now:
        assert reset == moment.timestamp()


@given(moments, st.integers(1, 12), st.integers(1, 31))
def test_a_date_without_a_year_is_never_far_away(now, month, day):
    name = datetime(2024, month, 1, tzinfo=UTC).strftime("%B")
    reset = parse_reset(f"resets {name} {day} at 3pm (UTC)", now, None)
    assert reset is None or now <= reset <= now + IMPLIED_HORIZON


@given(moments, st.integers(0, 6), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_a_duration_is_added_exactly(now, days, hours, minutes, seconds):
    said = f"try again in {days}d {hours}h {minutes}m {seconds}s"
    assert parse_reset(said, now, None) == now + days * DAY + hours * 3600 + minutes * 60 + seconds


words = st.sampled_from(
    [
        "resets",
        "try again",
        "at",
        "in",
        "retry-after:",
        "4:53",
        "AM",
        "3pm",
        "(UTC)",
        "(Europe/Oslo)",
        "Nov",
        "23rd,",
        "2026",
        "7 days",
        "2h",
        "15m",
        "7200s",
        "1795236827",
        '"resets_at":',
        "2026-11-23T16:12:00Z",
        "Mon",
        "tomorrow",
        "·",
    ]
)


@given(
    st.lists(words, max_size=12).map(" ".join) | st.text(max_size=200),
    moments,
    zones.map(ZoneInfo) | st.none(),
)
def test_whatever_the_words_a_reset_is_never_past_and_never_absurd(text, now, zone):
    reset = parse_reset(text, now, zone)
    assert reset is None or now <= reset <= now + HORIZON


@pytest.mark.parametrize("form", ["resets at {:.0f}", "resets at {} (UTC)"])
@pytest.mark.parametrize(
    ("days", "read"), [(0.99, True), (1.01, False), (2, False), (30, False), (400, False)]
)
def test_an_instant_of_longer_ago_than_a_day_is_a_misreading(form, days, read):
    """Words travel, and clocks differ, for a day at most: what a log quoted from last month frees no account now."""
    past = NOW - days * DAY
    said = past if ".0f" in form else datetime.fromtimestamp(past, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    found = parse_reset(form.format(said), NOW, UTC)
    assert found == (NOW if read else None)
