"""Lists for people: columns and instants."""

import click

from hub.cli.terminal.table import instant, table


def test_columns_stand_below_their_headings():
    """Each as wide as its widest cell, no space at a line's end, colours aside."""
    drawn = table(("NAME", "STATE"), [("a", "ready"), ("longer", "")], ["green", None])
    assert click.unstyle(drawn).splitlines() == ["NAME    STATE", "a       ready", "longer"]
    assert drawn != click.unstyle(drawn)


def test_a_column_without_content_is_left_out():
    """Headings over nothing tell nothing; with no rows there is a line of headings all the same."""
    assert click.unstyle(table(("A", "EMPTY", "B"), [("1", "", "2")])).splitlines() == ["A  B", "1  2"]


def test_an_instant_is_for_people():
    """No `T`, no milliseconds, and the zone is said."""
    assert instant("2026-01-02T03:04:05.678Z") == "2026-01-02 03:04:05"
    assert instant("2026-01-02T03:04:05.678Z", named=True) == "2026-01-02 03:04:05 UTC"


def test_the_last_column_may_be_broken():
    """Below itself, as long as there is room; else each row is a paragraph."""
    rows = [("a", "one"), ("b", "word " * 10 + "end")]
    drawn = click.unstyle(table(("KEY", "VALUE"), rows, width=40, folds=True)).splitlines()
    assert drawn == ["KEY  VALUE", "a    one", "b    " + "word " * 6 + "word", "     word word word end"]
    assert "\n\n" in table(("KEY", "VALUE"), rows, width=20, folds=True)
    long = table(("KEY", "VALUE"), [("key", "[" + "x" * 36 + "]"), ("b", "c")], width=40, folds=True)
    assert click.unstyle(long).splitlines()[1:] == ["key", "    [" + "x" * 36 + "]", "b    c"], (
        "what cannot be broken"
    )
