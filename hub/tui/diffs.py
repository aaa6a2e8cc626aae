"""Diffs as rows.

Owns: the colours of a unified diff.
Must not: make one.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.tui.rows import MORE, Row, row, wrapped

MOST = 20_000
"""Lines of a diff that are shown."""


def colour_of(line: str) -> str:
    """The look of a line of a unified diff."""
    if line.startswith(
        ("+++", "---", "diff ", "index ", "new file", "deleted file", "rename ", "similarity ")
    ):
        return "dim"
    if line.startswith("@@"):
        return "info"
    return {"+": "good", "-": "bad"}.get(line[:1], "")


def rows_of(summary: str, diff: str, *, truncated: bool = False, width: int = 0) -> Iterator[Row]:
    """The summary by file, then the diff; each file can be jumped to. With a width, longer lines go on below themselves."""
    for line in summary.rstrip().split("\n") if summary.strip() else ():
        yield from (row((part, "bold")) for part in (wrapped(line, width) if width else (line,)))
    lines = diff.split("\n") if diff.strip() else []
    for at, line in enumerate(lines[:MOST]):
        if line.startswith("diff --git "):
            yield row("")
            yield row((_file(line), "head"), key=f"file-{at}")
        else:
            yield from _line(line, width)
    if truncated or len(lines) > MOST:
        yield row(("there is more than is shown here: hub diff", "warn"))
    if not lines:
        yield row(("nothing has changed", "dim"))


def _line(line: str, width: int) -> Iterator[Row]:
    look = colour_of(line)
    first, *rest = wrapped(line, width) if width else (line,)
    yield row((first, look))
    for part in rest:
        yield row((MORE, "dim"), (f" {part}", look))  # no line of a diff begins so


def _file(line: str) -> str:
    """The file's name, once where it is the same on both sides."""
    sides = line.removeprefix("diff --git ")
    old, _, new = sides.partition(" b/")
    return new if old == f"a/{new}" else sides
