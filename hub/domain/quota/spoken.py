"""What people call a quota's windows.

Owns: those words.
Must not: know where a window comes from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

WINDOWS: Final[Mapping[str, str]] = {"five_hour": "5-hour", "seven_day": "7-day", "thirty_day": "30-day"}
_NAMED = re.compile(rf"\b({'|'.join(WINDOWS)})\b")


def spoken(text: str) -> str:
    """A text of hub's own with the windows called as people call them: `five_hour at 100 %` -> `5-hour quota at 100 %`."""
    return _NAMED.sub(lambda found: f"{WINDOWS[found[0]]} quota", text)
