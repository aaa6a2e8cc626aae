"""Time as text, for records that people read.

Owns: the one timestamp format of state and audit records.
Must not: read a clock.
"""

from __future__ import annotations

from datetime import UTC, datetime


def iso(seconds: float) -> str:
    """`2026-11-21T04:58:26.123Z` for epoch seconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
