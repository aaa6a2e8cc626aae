"""Figures and instants as a person reads them.

Owns: the templates' filters for times, spans, counts and money.
Must not: know a page. Times are local to the machine, which is the reader's; the zone is said once, in the page's foot.
"""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime

from markupsafe import Markup

from hub.domain.quota import spoken as windows
from hub.domain.standing import HANDING_OVER
from hub.domain.text.figures import MINUTE, money, span
from hub.domain.text.result import bare
from hub.domain.text.safe import clean
from hub.domain.wallclock import local, moment, seconds

_THOUSAND = 1000


def _at(stamp: str | float | None) -> datetime | None:
    """In the time of the place; None of none, and of what an agent has put into the place of a time."""
    try:
        return local(stamp) if stamp else None
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def clock(stamp: str | float | None) -> str:
    """`14:03`, with the day where it is not today's; "" of none."""
    return moment(stamp, time.time()) if stamp and _at(stamp) else str(stamp or "")


def when(stamp: str | float | None) -> Markup:
    """The clock as a `<time>` that tells the whole instant."""
    if (at := _at(stamp)) is None:
        return Markup("{}").format(stamp or "")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.astimezone(UTC).isoformat(), f"{at:%Y-%m-%d %H:%M:%S %Z}", clock(stamp)
    )


def ago(stamp: str | float | None) -> str:
    """How long ago: `40 s`, `12 min`, `3 h`, `2 d`; "" of none."""
    at = _at(stamp)
    return span(time.time() - at.timestamp()) if at else ""


def until(stamp: str | float | None) -> str:
    """How long it still takes; `now` of what has come, "" of none."""
    if (at := _at(stamp)) is None:
        return ""
    left = at.timestamp() - time.time()
    return f"in {span(left)}" if left > 0 else "now"


def minutes(length: float | None) -> str:
    """Minutes as a span."""
    return "" if length is None else span(length * MINUTE)


def count(number: float | None) -> str:
    """`12,400`, or `12.4 k` where the rest would be noise; "" of none."""
    if number is None:
        return ""
    if abs(number) < 10 * _THOUSAND:
        return f"{number:,.0f}"
    if abs(number) < _THOUSAND**2:
        return f"{number / _THOUSAND:.1f} k"
    return f"{number / _THOUSAND**2:.2f} M"


def percent(share: float | None) -> str:
    """`42 %`; "" of what is not known."""
    return "" if share is None else f"{100 * share:.0f} %"


def spoken(word: str) -> str:
    """A word of the API as people write it: `handing_off` is `handing off`."""
    return windows.WINDOWS.get(str(word), str(word).replace("_", " ").lower())


def told(text: str) -> str:
    """A text of hub's own, as people read it."""
    return windows.told(clean(str(text)), time.time())


FILTERS = {
    "seconds": seconds,
    "when": when,
    "ago": ago,
    "until": until,
    "span": lambda length: "" if length is None else span(length),
    "minutes": minutes,
    "count": count,
    "percent": percent,
    "money": lambda usd: "?" if usd is None else money(usd),
    "spoken": spoken,
    "step": lambda state: HANDING_OVER.get(state, ""),
    "lapse": lambda approval: approval.lapse(clock),
    "told": told,
    "bare": bare,
    "quoted": shlex.quote,
    "outlook": lambda word: windows.OUTLOOKS.get(str(word), str(word)),
    "source": lambda word: windows.SOURCES.get(str(word), str(word)),
}
