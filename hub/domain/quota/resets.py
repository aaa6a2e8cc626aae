r"""When a quota comes back, read from an agent's own words.

Owns: the table of the forms in which agents tell a reset (`_ROWS`) and the one function that reads it.
Must not: guess. What no row reads, what names an unknown zone, or what makes no sense is None.

Theory of operation. Typography is made plain, and what parts two facts is a line's end: a `\s` of a row reads over it,
a blank does not. Then the rows are tried from the most to the least precise
form; the first match that makes sense wins. Every row but a bare `in 2h 15m` needs a cue word ("resets",
"try again", "retry"...), so that a duration or a time which tells of something else is not taken for a reset.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo

import attrs

from hub.domain import wallclock
from hub.domain.text.safe import clean
from hub.domain.text.typography import typed

DAY = 86_400.0
HORIZON = 366 * DAY
"""An instant farther away than this is a misreading."""
IMPLIED_HORIZON = 35 * DAY
"""The same where the text leaves the year out."""
GRACE = 120.0
"""A wall clock shows whole minutes and words travel: a time this little past means now, not tomorrow."""
_MAX_TEXT = 65_536


@attrs.frozen
class _Context:
    now: float
    tz: tzinfo | None


_Reader = Callable[[re.Match[str], _Context], float | None]

_ENDS = re.compile("[\u00b7\u2022\u2219\n\r]")
"""They part what is told of a limit."""
_ESCAPED = re.compile(r"\\+(?:(?P<mark>[\"'])|[nrt])")
"""As a text has it that JSON quotes, also one that is quoted again."""

_TURN = re.compile(r"(?i)\b(?:12(?::00)?\s)?(?:(?P<night>midnight)|noon)\b")
_WORD = r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"
"""Where a word begins, in `quotaResetDelay` too."""
_BACK = (
    r"resets?(?:[_\s-]?(?:at|time(?:stamp)?|on|after|in))?|resetting|try(?:ing)?\sagain"
    r"|retry(?:ing)?(?:[_\s-]?after)?|available\sagain|regain\saccess|refresh(?:es)?|renews?"
)
_LEAD = r"(?:[\"']?\s?[:=])?(?:\s(?i:at|on|after|by|is))?\s?[\"']?"
_CUE = rf"{_WORD}(?i:{_BACK}|available|until){_LEAD}"
_DAY_CUE = rf"{_WORD}(?i:{_BACK}){_LEAD}"
"""Before a day alone: much else is available until some day."""
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY = (
    r"(?i:(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday)?|thu(?:r|rs(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)(?![a-z]))"
)
_MONTH = (
    r"(?i:(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z]))\.?"
)
"""Whole names: no limit comes back on Monthly, Sunset or Decimals."""
_DOM = r"(?P<dom>\d{1,2})(?:st|nd|rd|th)?(?![\w:])"
_TIME = (
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d))?)?(?![\d:])"
    r"(?:\s?(?P<half>[AaPp])(?:\.[Mm]\.|[Mm](?![A-Za-z])))?"
)
_ZONE = (
    r"(?:\s?\((?P<paren>[A-Za-z][A-Za-z0-9_+/:-]{0,63}|[A-Z][^()]{0,63})\)"
    r"|(?:,(?=\s(?:UTC|GMT|[A-Z]\w{1,31}/)))?\s?(?P<zone>(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?)?|[+-]\d\d:?\d\d|Z"
    r"|[A-Z][A-Za-z_]{1,31}/[A-Za-z_/+-]{1,63}|[A-Z]{2,5}"
    r"|(?<=[ ])(?!(?:Local|Your|Server|This|Next)[ ])[A-Z][a-z]{3,9}(?=[ ][Tt]ime\b))(?![A-Za-z0-9]))?"
)
_UNIT = (
    r"(?i:milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)"
    r"(?![A-Za-z])"
)
_NUMBER = r"(?:\d{1,9}(?:\.\d{1,9})?|(?i:an?)(?=\s))"
_DURATION = rf"(?P<duration>(?:{_NUMBER}\s?{_UNIT}(?:,?\s(?:and\s)?(?=\d))?){{1,6}})(?!\d)"
_PIECE = re.compile(rf"({_NUMBER})\s?([a-z]+)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "w": 7 * DAY}


def parse_reset(text: str, now: float, tz: tzinfo | None) -> float | None:
    """Read when the quota comes back, epoch seconds, or None when the text does not tell.

    Args:
        text: The agent's words, an error body or a header dump.
        now: When they were said, epoch seconds.
        tz: The zone of the clock that said them, for times without a zone; None = such times are not read.

    Returns:
        An instant that is never before `now`, and never more than 35 days after it unless the text says so.
    """
    quoted = _ESCAPED.sub(lambda found: found["mark"] or "\n", clean(text[-_MAX_TEXT:]))
    lines = (" ".join(line.split()) for line in _ENDS.split(typed(quoted)))
    plain = "\n".join(filter(None, lines))
    plain = _TURN.sub(lambda found: f"12:00 {'AM' if found['night'] else 'PM'}", plain)
    context = _Context(now, tz)
    for pattern, read in _ROWS:
        for match in pattern.finditer(plain):
            found = read(match, context)
            if found is not None and now - DAY <= found <= now + HORIZON:
                return max(found, now)
    return None


def _epoch(match: re.Match[str], _: _Context) -> float:
    digits = match["epoch"]
    return int(digits) / 1000 if len(digits) > 10 else float(digits)  # noqa: PLR2004  # 13 digits are milliseconds


def _iso(match: re.Match[str], context: _Context) -> float | None:
    zone = _zone_of(match, context)
    if zone is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{match['day'].replace('/', '-')}T{match['clock'] or '00:00'}")
    except ValueError:
        return None
    return wallclock.instants(moment.date(), moment.time(), zone)[-1]


def _seconds(match: re.Match[str], context: _Context) -> float:
    return context.now + float(match["seconds"])


def _milliseconds(match: re.Match[str], context: _Context) -> float:
    return context.now + float(match["millis"]) / 1000


def _duration(match: re.Match[str], context: _Context) -> float:
    total = 0.0
    for number, word in _PIECE.findall(match["duration"].lower()):
        total += (1.0 if number.startswith("a") else float(number)) * _SECONDS[
            "ms" if word.startswith(("ms", "mil")) else word[0]
        ]
    return context.now + total


def _dated(match: re.Match[str], context: _Context) -> float | None:
    clock, zone = _clock_of(match), _zone_of(match, context)
    if clock is None or zone is None:
        return None
    month, dom = _MONTHS.index(match["month"][:3].lower()) + 1, int(match["dom"])
    if match["year"]:
        return max(_instants_of(int(match["year"]), month, dom, clock, zone), default=None)
    year = datetime.fromtimestamp(context.now, zone).year
    near = [
        at
        for candidate in (year, year + 1)
        for at in _instants_of(candidate, month, dom, clock, zone)
        if context.now - GRACE <= at <= context.now + IMPLIED_HORIZON
    ]
    return max(near, default=None)


def _clock(match: re.Match[str], context: _Context) -> float | None:
    clock, zone = _clock_of(match), _zone_of(match, context)
    if clock is None or zone is None or (match["half"] is None and match["minute"] is None):
        return None
    weekday = _DAYS.index(match["weekday"][:3].lower()) if match["weekday"] else None
    now = context.now
    if match["relative"] and match["relative"].lower() == "tomorrow":
        tomorrow = datetime.fromtimestamp(now, zone).date() + timedelta(days=1)
        return wallclock.instants(tomorrow, clock, zone)[-1]
    return next(wallclock.occurrences(now, clock, zone, back=GRACE, weekday=weekday))


def _instants_of(year: int, month: int, dom: int, clock: time, zone: tzinfo) -> list[float]:
    """The instants of a date as written; none when there is no such date (30 February, year 0)."""
    try:
        return wallclock.instants(date(year, month, dom), clock, zone)
    except (ValueError, OverflowError):
        return []


def _clock_of(match: re.Match[str]) -> time | None:
    hour, half = int(match["hour"] or 0), (match["half"] or "").lower()
    if half and not 1 <= hour <= 12:  # noqa: PLR2004  # a twelve-hour clock
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, int(match["minute"] or 0), int(match["second"] or 0))
    except ValueError:
        return None


def _zone_of(match: re.Match[str], context: _Context) -> tzinfo | None:
    """The zone that the text names, else the local one where a clock of an agent's own is told (am, pm or a month).

    A date or a time in figures is a server's, somewhere; a named zone that is unknown is None, never local.
    """
    names = match.groupdict()
    name = next(
        filter(None, (names.get(each) for each in ("paren", "zone", "late_paren", "late_zone"))), None
    )
    own = names.get("half") or names.get("month")
    return wallclock.zone(name) if name else context.tz if own else None


def _row(pattern: str, read: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(pattern, re.ASCII), read


_YEAR = r"(?:,?\s(?P<year>\d{4}))"
_AT = r"(?:,|,?\sat)?\s"
_ON = r",?[ ](?:on[ ])?"
_RELATIVE = rf"(?:{_WEEKDAY}|(?i:(?P<relative>today|tomorrow)))"
_ZONE_BEHIND = _ZONE.replace("<paren>", "<late_paren>").replace("<zone>", "<late_zone>")
_MIDNIGHT = r"(?P<hour>)(?P<minute>)(?P<second>)(?P<half>)"
_HEADER = r"[\"']?\s?[:=]\s?[\"']?"

_ROWS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    # For example {"resets_at": 1795236827}, x-ratelimit-reset: 1795236827, "usage limit reached|1795236827".
    _row(rf"(?:{_CUE}|(?i:limit\sreached)\|)(?P<epoch>\d{{13}}|\d{{10}})(?![\d.])", _epoch),
    # For example "resets_at":"2026-11-23T16:12:00Z", or: regain access on 2026-11-23 at 16:12 UTC.
    _row(
        rf"{_CUE}(?P<day>\d{{4}}[-/]\d\d[-/]\d\d)(?:T|\s(?:at\s)?)"
        rf"(?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?)\d{{0,9}}(?![\d:]){_ZONE}",
        _iso,
    ),
    # For example retry-after-ms: 1500, "retryDelayMs":10000, retry_delay_ms: 591.
    _row(
        r"(?i:(?<![A-Za-z])(?:retry[_-]?(?:after|delay)[_-]?ms|delayMs))"
        rf"{_HEADER}(?P<millis>\d{{1,12}})(?![\d.])",
        _milliseconds,
    ),
    # For example retry-after: 7200, "retry_after":30, "resets_in_seconds":120.
    _row(
        r"(?<![A-Za-z])(?i:retry[_-]?after(?:[_-]?seconds)?|resets?[_-]?(?:in|after)[_-]?seconds)"
        rf"{_HEADER}(?P<seconds>\d{{1,9}}(?:\.\d{{1,9}})?)(?![\d.]|[ ]?[A-Za-z])",
        _seconds,
    ),
    # For example "Retrying after 10000ms": what the program does, before what the server suggests.
    _row(rf"(?i:\bretrying (?:in|after))\s{_DURATION}", _duration),
    # For example "try again at Nov 23rd, 2026 4:12 PM", or "resets Nov 23 at 3pm" with a zone.
    _row(rf"{_CUE}(?:{_WEEKDAY},?\s)?{_MONTH}\s{_DOM}{_YEAR}?{_AT}{_TIME}{_ZONE}", _dated),
    # For example Retry-After: Mon, 23 Nov 2026 16:12:00 GMT.
    _row(rf"{_CUE}(?:{_WEEKDAY},?\s)?{_DOM}\s{_MONTH}{_YEAR}?{_AT}{_TIME}{_ZONE}", _dated),
    # For example "try again at 4:53 AM on Nov 23".
    *(
        _row(rf"{_CUE}{_TIME}{_ZONE}{_ON}(?:{_WEEKDAY},? )?{day}{_YEAR}?{_ZONE_BEHIND}", _dated)
        for day in (rf"{_MONTH} {_DOM}", rf"{_DOM} {_MONTH}")
    ),
    # For example "resets 9am tomorrow", then "resets 4:54am (UTC)", "try again at 4:53 AM.", "resets Monday at 3pm".
    _row(rf"{_CUE}{_TIME}{_ZONE}{_ON}{_RELATIVE}{_ZONE_BEHIND}", _clock),
    _row(rf"{_CUE}(?:{_RELATIVE}{_AT})?{_TIME}{_ZONE}", _clock),
    # For example "resets Dec 1", "resets on 2026-12-01": the day's first moment.
    *(
        _row(rf"{_DAY_CUE}(?:{_WEEKDAY},?\s)?{day}{_YEAR}?(?!{_AT}\d){_MIDNIGHT}{_ZONE}", _dated)
        for day in (rf"{_MONTH}\s{_DOM}", rf"{_DOM}\s{_MONTH}")
    ),
    _row(rf"{_DAY_CUE}(?P<day>\d{{4}}-\d\d-\d\d)(?![\dT]|{_AT}\d)(?P<clock>){_ZONE}", _iso),
    # For example "try again in 7 days 3 hours", "Please retry in 7200s.", "retryDelay": "2s".
    _row(
        rf"(?:{_CUE}|{_WORD}"
        rf"(?i:wait|again|back|(?:retry[_-]?delay|reset[a-z-]{{0,20}})[\"']?:)\s?[\"']?)"
        rf"(?i:(?:in|after|for|at\sleast|less\sthan|about|another)\s?){{0,2}}{_DURATION}",
        _duration,
    ),
    # For example RateLimit-Reset: 3600: of any limit there is, so after what is told of this one; 0 tells of none.
    _row(
        rf"(?<![A-Za-z])(?i:(?:x-)?ratelimit-reset(?:-after)?){_HEADER}"
        r"(?P<seconds>[1-9]\d{0,8}(?:\.\d{1,9})?)(?![\d.]|[ ]?[A-Za-z])",
        _seconds,
    ),
    # The whole text is a duration, for example "in 2h 15m".
    _row(rf"\A(?i:in\s)?{_DURATION}\.?\Z", _duration),
)
