"""Patterns that are compiled when they are first used.

Owns: this one way to write them.
Must not: be used where a pattern is looked up for every character: `late` costs a call.

To compile the patterns of redaction and of the stores takes 14 ms, and a short command meets few of the texts they are for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import AnyStr


def late(pattern: AnyStr, flags: int = 0) -> Callable[[], re.Pattern[AnyStr]]:
    """Gives the compiled pattern."""
    return cache(lambda: re.compile(pattern, flags))
