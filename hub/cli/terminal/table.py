"""Lists for people: rows under headings, and instants.

Owns: the widths of columns, the look of headings, and the form of an instant.
Must not: know what is listed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

import click

from hub.cli.terminal.clock import zone
from hub.cli.terminal.width import columns, hung
from hub.domain.text.safe import clip
from hub.domain.wallclock import local

_GAP = "  "
_ROOM = 24
"""Columns that a cell has at least where it is broken."""


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    colours: Sequence[str | None] = (),
    width: int | None = None,
    *,
    groups: Sequence[str] = (),
    below: Sequence[str] = (),
    folds: bool = False,
) -> str:
    """Rows under headings, each column as wide as its widest cell; a column without any content is left out.

    On a terminal that is narrower than that each row is a paragraph: its first cell, and the others by their headings.

    Args:
        headings: One for each column.
        rows: As many cells each; plain text.
        colours: One for each row, or none at all.
        width: Columns there are, 0 = any number; None = as many as the terminal has.
        groups: The group of each row, or none at all; a group's name stands above the first of its rows.
        below: What stands below each row where it is a line, cut to the width; or none at all.
        folds: Whether the last column's cells are broken where they are too wide, as long as there is room for them.
    """
    width = columns(sys.stdout) if width is None else width
    kept = [column for column in range(len(headings)) if any(row[column] for row in rows)]
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in kept]

    def drawn(cells: Sequence[str]) -> str:
        each = (cells[column].ljust(width) for column, width in zip(kept, widths, strict=True))
        *before, last = each
        if folded and max(map(len, last.split()), default=0) > folded - hang:  # nothing could be broken there
            return f"{_GAP.join(before).rstrip()}\n{hung(2 * _GAP + last.rstrip(), folded, len(2 * _GAP))}"
        return hung(_GAP.join((*before, last)).rstrip(), folded, hang)

    tints = colours or [None] * len(rows)
    hang = sum(widths[:-1]) + len(_GAP) * (len(kept) - 1)
    folded = width if folds and width - hang >= _ROOM else 0
    if not folded and width and sum(widths) + len(_GAP) * (len(kept) - 1) > width:
        paragraphs = (
            _paragraph([(headings[at], row[at]) for at in kept], tint, width)
            for row, tint in zip(rows, tints, strict=True)
        )
        return "\n\n".join(_grouped(paragraphs, groups))
    under = ["\n" + click.style(f"{_GAP}{clip(text, width - len(_GAP))}", dim=True) for text in below] or [
        ""
    ] * len(rows)
    body = (
        (click.style(drawn(row), fg=tint) if tint else drawn(row)) + more
        for row, tint, more in zip(rows, tints, under, strict=True)
    )
    return "\n".join([click.style(drawn(headings), bold=True), *_grouped(body, groups)])


def _grouped(lines: Iterable[str], groups: Sequence[str]) -> Iterator[str]:
    """The lines, each group's name above its first."""
    before = ""
    for place, line in enumerate(lines):
        if groups and groups[place] != before:
            before = groups[place]
            yield click.style(before, bold=True)
        yield line


def _paragraph(cells: Sequence[tuple[str, str]], tint: str | None, width: int) -> str:
    (_, first), *rest = cells
    wide = max((len(name) for name, _ in rest), default=0)
    lines = (
        hung(
            f"{_GAP}{click.style(name.lower().ljust(wide), dim=True)}{_GAP}{text}",
            width,
            wide + 2 * len(_GAP),
        )
        for name, text in rest
        if text
    )
    return "\n".join([click.style(first, fg=tint, bold=True), *lines])


def instant(stamp: str, *, named: bool = False) -> str:
    """An ISO instant to the second, in the time of the place; with its zone where it stands alone."""
    then = local(stamp)
    return f"{then:%Y-%m-%d %H:%M:%S}" + (f" {zone(then)}" if named else "")


def name_zone() -> None:
    """Say once which time a list is in: beside it, so that its lines stay what they are."""
    click.echo(f"times are {zone()}", err=True)
