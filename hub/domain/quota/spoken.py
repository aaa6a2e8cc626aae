"""What people call a quota's windows, what is known of their pace, and where their figures come from.

Owns: those words, and how a text of hub's own is said to people.
Must not: know where a window comes from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hub.domain.wallclock import moment, respoken

WINDOWS: Final[Mapping[str, str]] = {"five_hour": "5-hour", "seven_day": "7-day", "thirty_day": "30-day"}
OUTLOOKS: Final[Mapping[str, str]] = {
    "accumulating": "pace not known yet",
    "idle": "nothing is used now",
    "ready": "",
    "stale": "pace not known: the last reading is old",
}
SOURCES: Final[Mapping[str, str]] = {
    "stream": "told by its agent",
    "limit": "known since the limit was met",
    "store": "read in its agent's files",
    "endpoint": "told by its maker",
    "declared": "counted against your cap",
    "none": "",
}
SOURCES_BRIEFLY: Final[Mapping[str, str]] = {
    "stream": "its agent",
    "limit": "its limit",
    "store": "its files",
    "endpoint": "its maker",
    "declared": "your cap",
    "none": "",
}
"""The same in a column below the word "source"."""
_NAMED = re.compile(rf"\b({'|'.join(WINDOWS)})\b")


def spoken(text: str) -> str:
    """A text of hub's own with the windows called as people call them: `five_hour at 100 %` -> `5-hour quota at 100 %`."""
    return _NAMED.sub(lambda found: f"{WINDOWS[found[0]]} quota", text)


def told(text: str, now: float) -> str:
    """A text of hub's own as people read it: the windows by their names, instants in the time of this machine.

    Args:
        text: As the log, the API and the records have it.
        now: Epoch seconds: an instant of another day is told with its day.
    """
    return respoken(spoken(text), lambda at: moment(at.timestamp(), now))
