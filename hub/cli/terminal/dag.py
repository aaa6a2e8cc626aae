"""A graph as a picture for the terminal: one row a node, rails for what waits for what.

Owns: the drawing.
Must not: know what the nodes are, or what their marks and labels mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = {
    0: " ", _UP: "│", _DOWN: "│", _UP | _DOWN: "│", _LEFT: "─", _RIGHT: "─", _LEFT | _RIGHT: "─",
    _UP | _RIGHT: "╰", _UP | _LEFT: "╯", _DOWN | _RIGHT: "╭", _DOWN | _LEFT: "╮",
    _UP | _DOWN | _RIGHT: "├", _UP | _DOWN | _LEFT: "┤", _UP | _LEFT | _RIGHT: "┴", _DOWN | _LEFT | _RIGHT: "┬",
    15: "┼",
}  # fmt: skip
_PLAIN = str.maketrans("│─╰╯╭╮├┤┴┬┼○◐●✗■·", "|-``..+++++o>*x#.")


Rails = list[set[str]]
"""The columns, each with the nodes it still leads to."""


def picture(
    order: Sequence[str], needs: Mapping[str, Sequence[str]], labels: Mapping[str, tuple[str, str]]
) -> list[str]:
    """The rows of the picture.

    Args:
        order: The nodes, each after all it needs.
        needs: What each node waits for.
        labels: Each node's mark (one cell wide) and the text beside it.
    """
    leads: dict[str, set[str]] = {name: set() for name in order}
    for name in order:
        for want in needs[name]:
            leads[want].add(name)
    rails: Rails = []
    rows: list[tuple[str, str]] = []
    for name in order:
        incoming = [column for column, left in enumerate(rails) if name in left]
        for column in incoming:
            rails[column].discard(name)
        ending = [column for column in incoming if not rails[column]]
        column = ending[0] if ending else _free(rails)
        if rows and not incoming:  # else a node would stand under one that it does not wait for
            rows.append((_row(rails), ""))
        if joint := [other for other in incoming if other != column]:
            rows.append((_joint(rails, column, joint, through=column in incoming), ""))
        rails[column] = {*leads[name], name}
        rows.append((_row(rails, column, labels[name][0]), labels[name][1]))
        rails[column].discard(name)
        while rails and not rails[-1]:
            rails.pop()
    width = max((len(row) for row, _ in rows), default=0)
    return [f"{row:<{width}}  {text}".rstrip() for row, text in rows]


def _free(rails: Rails) -> int:
    """The first column that leads nowhere; a new one when all do."""
    for column, left in enumerate(rails):
        if not left:
            return column
    rails.append(set())
    return len(rails) - 1


def _row(rails: Rails, column: int = -1, mark: str = "") -> str:
    cells = ["│" if left else " " for left in rails]
    if mark:
        cells[column] = mark
    return " ".join(cells).rstrip()


def _joint(rails: Rails, column: int, joint: Sequence[int], *, through: bool) -> str:
    """The row in which rails bend towards the node's column."""
    ends = [column, *joint]
    cells = []
    for here in range(max(len(rails), column + 1)):
        bits = _DOWN | (_UP if through else 0) if here == column else 0
        if here != column and here < len(rails) and rails[here]:
            bits |= _UP | _DOWN
        if here in joint:
            bits |= _UP
        if min(ends) < here <= max(ends):
            bits |= _LEFT
        if min(ends) <= here < max(ends):
            bits |= _RIGHT
        cells.append(_LINES[bits] + ("─" if bits & _RIGHT else " "))
    return "".join(cells).rstrip()


def plain(row: str) -> str:
    """The row in ASCII, for a terminal that shows nothing else."""
    return row.translate(_PLAIN).encode("ascii", "replace").decode()
