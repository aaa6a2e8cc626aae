"""Lists for people: rows under headings, counted things, and instants.

Owns: the widths of columns, the look of headings, plurals, and how long ago something was.
Must not: know what is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_GAP = "  "


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], colours: Sequence[str | None] = ()) -> str:
    """Rows under headings, each column as wide as its widest cell; a column without any content is left out.

    Args:
        headings: One for each column.
        rows: As many cells each; plain text.
        colours: One for each row, or none at all.
    """
    kept = [column for column in range(len(headings)) if any(row[column] for row in rows)]
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in kept]

    def drawn(cells: Sequence[str]) -> str:
        each = (cells[column].ljust(width) for column, width in zip(kept, widths, strict=True))
        return _GAP.join(each).rstrip()

    tints = colours or [None] * len(rows)
    body = (
        click.style(drawn(row), fg=tint) if tint else drawn(row)
        for row, tint in zip(rows, tints, strict=True)
    )
    return "\n".join([click.style(drawn(headings), bold=True), *body])


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`, `1,000 files`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def ago(seconds: float) -> str:
    """How long something lies behind: `40 s`, `12 min`, `3 h`, `2 d`."""
    seconds = max(0, int(seconds))
    if seconds < 2 * _MINUTE:
        return f"{seconds} s"
    if seconds < 2 * _HOUR:
        return f"{seconds // _MINUTE} min"
    return f"{seconds // _HOUR} h" if seconds < 2 * _DAY else f"{seconds // _DAY} d"


def instant(stamp: str) -> str:
    """An ISO instant to the second, in UTC."""
    return f"{datetime.fromisoformat(stamp).astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
