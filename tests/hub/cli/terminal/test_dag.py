"""A graph as a picture: every node has one row, and rails lead from each to all that wait for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.cli.terminal.dag import picture, plain

UP, DOWN, LEFT, RIGHT = "│╰╯├┤┴┼", "│╭╮├┤┬┼", "─╯╮┤┴┬┼", "─╰╭├┴┬┼"


def draw(needs):
    return picture(list(needs), needs, {name: ("●", name) for name in needs})


@pytest.mark.parametrize(
    ("needs", "rows"),
    [
        ({}, []),
        ({"a": [], "b": ["a"]}, ["●  a", "●  b"]),
        ({"a": [], "b": []}, ["●  a", "", "●  b"]),
        ({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]},
         ["●    a", "├─╮", "│ ●  b", "● │  c", "├─╯", "●    d"]),
        ({"a": [], "b": [], "c": ["a", "b"]},
         ["●    a", "│", "│ ●  b", "├─╯", "●    c"]),
        ({"a": [], "b": ["a"], "c": ["a"], "d": ["a"], "e": ["b", "c", "d"]},
         ["●      a", "├─╮", "│ ●    b", "├─┼─╮", "│ │ ●  c", "● │ │  d", "├─┴─╯", "●      e"]),
    ],
)  # fmt: skip
def test_pictures(needs, rows):
    assert draw(needs) == rows


graphs = (
    st.integers(1, 7)
    .flatmap(
        lambda size: st.tuples(
            *(
                st.sets(st.integers(0, max(i - 1, 0)), max_size=3) if i else st.just(set())
                for i in range(size)
            )
        )
    )
    .map(lambda wants: {f"n{i}": [f"n{k}" for k in sorted(want)] for i, want in enumerate(wants)})
)


@given(graphs)
def test_no_line_ends_in_nothing(needs):
    """Each rail meets a rail or a node at both ends, and each node has its row."""
    rows = draw(needs)
    width = max(map(len, rows))
    cells = [row.partition("  n")[0].ljust(width) for row in rows]
    assert [row.rpartition("  ")[2] for row in rows if "●" in row] == list(needs)
    for y, row in enumerate(cells):
        for x, cell in enumerate(row):
            below = cells[y + 1][x] if y + 1 < len(cells) else " "
            beside = row[x + 1] if x + 1 < len(row) else " "
            if cell in DOWN:
                assert below in UP or below == "●", (rows, x, y)
            if cell in UP:
                above = cells[y - 1][x]
                assert above in DOWN or above == "●", (rows, x, y)
            assert (cell in RIGHT) == (beside in LEFT), (rows, x, y)


def test_a_terminal_without_line_drawing_gets_ascii():
    assert [plain(row) for row in ["●  a", "├─╮", "│ ✗  b"]] == ["*  a", "+-.", "| x  b"]
