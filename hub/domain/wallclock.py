"""Wall-clock time with a zone, to an instant, and an instant as text.

Owns: reading a zone's name, finding the instants at which a wall clock shows a given time, the one timestamp
format of state, records and answers, and an instant on this machine's own clock.
Must not: know any agent's words, or guess a zone that it cannot read (it answers None).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", re.ASCII)
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(?:/[A-Za-z0-9_+-]{1,31}){0,2}", re.ASCII)
_MAX_OFFSET_HOURS = 14
_DAY = timedelta(days=1)
_DAYS = 8
"""As far as a clock is looked at: a day of the week comes again within it."""
_WRITTEN = re.compile(r"\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:Z| UTC)\b", re.ASCII)
"""The two ways in which texts of hub's own have an instant."""


class _Here(tzinfo):
    """The zone of this machine's clock, with its changes: behind the next of them its offset of now is wrong."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        if dt is None:
            return None
        # In a skipped hour `astimezone` answers as each Python likes.
        here = dt.replace(tzinfo=None, microsecond=0)
        offset = timedelta(seconds=here.replace(tzinfo=UTC).timestamp() - here.timestamp())
        return offset if abs(offset) < _DAY else timedelta()

    def dst(self, _: datetime | None) -> timedelta | None:
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        return None if dt is None else _shown(dt).tzname()

    def fromutc(self, dt: datetime) -> datetime:
        shown = _shown(dt.replace(tzinfo=UTC))
        here = shown.replace(tzinfo=self)
        return here if here.utcoffset() == shown.utcoffset() else here.replace(fold=1)


HERE: tzinfo = _Here()


def _shown(at: datetime) -> datetime:
    """The instant on this machine's clock; in UTC where `TZ` puts that a day or more off, as no offset may be."""
    try:
        return at.astimezone()
    except ValueError:
        return at.astimezone(UTC)


def iso(seconds: float) -> str:
    """`2026-11-21T04:58:26.123Z` for epoch seconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def local(stamp: float | str) -> datetime:
    """Epoch seconds, or an ISO instant, in the zone of this machine.

    Raises:
        ValueError, OverflowError, OSError: It is no instant.
    """
    if isinstance(stamp, str):
        return _shown(datetime.fromisoformat(stamp))
    return _shown(datetime.fromtimestamp(stamp, UTC))


def seconds(stamp: float | str) -> str:
    """`14:03:07` in the zone of this machine; of a time of day without its day that, to the second.

    Never raises: a log may have anything in the place of a time.
    """
    try:
        return f"{local(stamp):%H:%M:%S}"
    except (TypeError, ValueError, OverflowError, OSError):
        return str(stamp)[:8]


def moment(stamp: float | str, now: float) -> str:
    """`15:07` in the zone of this machine; on another day than that of `now`, `24 Nov 15:07`.

    Raises:
        ValueError, OverflowError, OSError: It is no instant.
    """
    then = local(stamp)
    return f"{then:%H:%M}" if then.date() == local(now).date() else f"{then:%d %b %H:%M}"


def respoken(text: str, say: Callable[[datetime], str]) -> str:
    """A text of hub's own with every instant that is written in it said anew, from its time on this machine's clock."""

    def again(found: re.Match[str]) -> str:
        try:
            return say(local(f"{found[1]}T{found[2]}+00:00"))
        except ValueError:
            return found[0]

    return _WRITTEN.sub(again, text)


def zone(name: str) -> tzinfo | None:
    """The zone called `name`: `UTC`, `Z`, an offset such as `+02:00` or `UTC-7`, or an IANA key.

    None for anything else, also when the machine has no time zone data.
    """
    if name.upper() in ("UTC", "GMT", "Z"):
        return UTC
    if offset := _OFFSET.fullmatch(name.upper()):
        sign, hours, minutes = offset.groups()
        if int(hours) > _MAX_OFFSET_HOURS:
            return None
        delta = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(delta if sign == "+" else -delta)
    if not _KEY.fullmatch(name):
        return None
    from zoneinfo import ZoneInfo  # every start writes a time, few read one of a named zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, malformed, or a folder of zones such as "Europe"
        return None


def instants(day: date, clock: time, tz: tzinfo) -> list[float]:
    """The epoch seconds at which a clock in `tz` shows `clock` on `day`, in order: one, or two in a fold.

    A time that a forward change skips is read with the offset before the change, so it falls just after
    the gap: a reset named there is never expected too early.
    """
    naive = datetime.combine(day, clock)
    first = naive.replace(tzinfo=tz, fold=0).timestamp()
    second = naive.replace(tzinfo=tz, fold=1).timestamp()
    return [first, second] if second > first else [first]


def occurrences(
    now: float, clock: time, tz: tzinfo, *, back: float = 0.0, weekday: int | None = None
) -> Iterator[float]:
    """Every instant from `now - back` on at which a clock in `tz` shows `clock`, for more than a week.

    Args:
        now: Epoch seconds.
        clock: The time of day.
        tz: The clock's zone.
        back: How far before `now` an instant still counts.
        weekday: Only this day of the week, Monday being 0.
    """
    today = datetime.fromtimestamp(now, tz).date()
    for offset in range(-1, _DAYS + 1):
        day = today + timedelta(days=offset)
        if weekday is None or day.weekday() == weekday:
            yield from (at for at in instants(day, clock, tz) if at >= now - back)
