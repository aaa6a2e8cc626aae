"""Rows: safe to show, wrapped where there are blanks, and a cursor that stays at what it stood at."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from hub.tui.rows import Rows, fitted, plain, row, wrapped
from tests.waiting import PATIENCE


def run(lines, story, *, sticky=False, size=(20, 5)):
    class One(App):
        def compose(self):
            yield Rows(sticky=sticky)

    async def main():
        async with One().run_test(size=size) as pilot:
            rows = pilot.app.query_one(Rows)
            rows.focus()
            rows.show(lines)
            await pilot.pause()
            await story(rows, pilot)

    asyncio.run(main())


def keyed(*names):
    return [row(name, key=name) for name in names]


def test_what_a_terminal_acts_on_is_not_shown():
    """An agent's words are text: no escape sequence, no carriage return, no mark that turns the direction."""
    assert plain("a\x1b[31mb\x07\rc\u202ed\te\n[bold]f[/bold]") == "ab cd    e [bold]f[/bold]"


@given(st.text(max_size=200), st.integers(5, 40))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text, width):
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    kept = "".join(plain(part) for part in text.splitlines(keepends=True))
    assert "".join("".join(lines).split()) == "".join(kept.split())


def test_words_stay_whole_where_there_is_room():
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("漢字漢字", 4) == ["漢字", "漢字"]
    assert wrapped("", 4) == [""]


def test_the_cursor_stays_at_what_it_stood_at():
    async def story(rows, pilot):
        assert rows.key == "a"
        await pilot.press("down")
        assert rows.key == "b"
        rows.show(keyed("x", "y", "b", "c"))
        assert (rows.key, rows.cursor) == ("b", 2)
        rows.show(keyed("x", "y"))
        assert rows.key == "y"
        rows.show([row("nothing")])
        assert (rows.key, rows.cursor) == ("", -1)

    run(keyed("a", "b", "c"), story)


def test_only_rows_with_a_key_can_be_chosen():
    async def story(rows, pilot):
        assert rows.key == "a"
        await pilot.press("down")
        assert rows.key == "b"
        await pilot.press("up", "up", "end")
        assert rows.key == "b"
        await pilot.press("home")
        assert rows.key == "a"

    run([row("head"), *keyed("a"), row("head"), *keyed("b"), row("foot")], story)


@pytest.mark.parametrize("key", ["pagedown", "end"])
def test_a_long_list_follows_the_cursor(key):
    async def story(rows, pilot):
        await pilot.press(key)
        top = round(rows.scroll_offset.y)
        assert top <= rows.cursor < top + 5

    run(keyed(*(f"row {at}" for at in range(100))), story)


@pytest.mark.parametrize(("down", "up"), [("down", "up"), ("pagedown", "pageup")])
def test_what_stands_between_two_rows_that_can_be_chosen_is_read_whole(down, up):
    """As a long diff, of which each file can be chosen: no key but a jump leads past what was not seen."""

    async def story(rows, pilot):
        def in_sight():
            top = round(rows.scroll_offset.y)
            return range(top, min(top + 5, len(rows.lines)))

        for key, aim in ((down, len(rows.lines) - 1), (up, 0)):
            seen = set(in_sight())
            for _ in range(32):
                before = in_sight()
                await pilot.press(key)
                assert set(before) & set(in_sight())
                seen |= set(in_sight())
            assert seen == set(range(len(rows.lines)))
            assert aim in in_sight()
        await pilot.press("J")
        assert rows.key == "second"
        assert rows.cursor in in_sight()
        await pilot.press("K")
        assert rows.key == "first"

    between = [row(f"line {at}") for at in range(9)]
    run([row("head"), *keyed("first"), *between, *keyed("second"), *between], story)


def test_a_sticky_list_stays_at_its_end_until_somebody_goes_up():
    async def story(rows, pilot):
        assert rows.key == "9"
        rows.show(keyed(*map(str, range(20))))
        await pilot.pause()
        assert rows.key == "19"
        assert round(rows.scroll_offset.y) == 15
        await pilot.press("up")
        rows.show(keyed(*map(str, range(30))))
        assert rows.key == "18"
        await pilot.press("end")
        rows.show(keyed(*map(str, range(40))))
        assert rows.key == "39"

    run(keyed(*map(str, range(10))), story, sticky=True)


@pytest.mark.parametrize(("key", "first"), [("", "a" * 19), ("k", "a" * 17 + "..")])
def test_a_line_begins_in_the_same_column_with_a_cursor_and_without_and_says_where_it_goes_on(key, first):
    async def story(rows, pilot):
        shown = [rows.render_line(at).text[1:] for at in range(len(rows.lines))]
        assert (shown[0], shown[-1]) == (first, "b" + " " * 18)

    run([row("a" * 20, key=key), row("b" + " " * 30)], story)


def test_a_row_that_is_too_long_goes_on_below_its_last_piece():
    def shown(line, width):
        return ["".join(piece for piece, _ in part.pieces) for part in fitted(line, width)]

    line = row(("a      ", "mine"), "one two three", key="k")
    assert shown(line, 20) == ["a      one two three"]
    assert shown(line, 15) == ["a      one two", "       three"]
    assert shown(line, 8) == ["a", "one two", "three"]
    assert [part.key for part in fitted(line, 15)] == ["k", ""]
    assert shown(row("x: ", "two\nlines"), 20) == ["x: two", "   lines"]


def test_the_cursor_goes_to_what_was_aimed_at_once_it_is_there():
    async def story(rows, pilot):
        rows.aim = "c"
        rows.show(keyed("a", "b"))
        assert rows.key == "a"
        rows.show(keyed("a", "b", "c"))
        assert rows.key == "c"
        await pilot.press("up")
        rows.show(keyed("a", "b", "c", "d"))
        assert rows.key == "b"

    run(keyed("a"), story)


def test_the_cursor_goes_to_what_was_aimed_at_though_it_was_there_before():
    """A board that was drawn anew between a session's beginning and the aim had the same rows, and let the aim lie."""

    async def story(rows, _pilot):
        rows.aim = "c"
        rows.show(keyed("a", "b", "c"))
        assert rows.key == "c"

    run(keyed("a", "b", "c"), story)


def test_only_what_is_in_sight_is_drawn():
    drawn = []

    async def story(rows, pilot):
        whole = rows.render_line
        rows.render_line = lambda y: drawn.append(y) or whole(y)
        rows.show(keyed(*map(str, range(100_000))))
        async with asyncio.timeout(PATIENCE):
            while not drawn:
                await pilot.pause()
        assert max(drawn) < 5

    run(keyed("a"), story)


def test_what_cannot_be_opened_goes_on_below_itself():
    """A sentence ended in two dots at 40 columns, and nothing showed the rest; a row with a key is one line: enter shows it."""
    long = [row("one two three four five six"), row("a row that can be opened", key="a")]

    async def story(rows, pilot):
        assert [line.key for line in rows.lines] == ["", "", "a"]
        assert rows.text.split("\n")[:2] == ["one two three four", "five six"]
        await pilot.resize_terminal(60, 5)
        await pilot.pause()
        assert [line.key for line in rows.lines] == ["", "a"]
        assert rows.key == "a"

    run(long, story, size=(20, 5))
