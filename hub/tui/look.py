"""What the screens are drawn with: letters for marks and bars, in Unicode or in plain ASCII.

Owns: the two sets of marks, bars and sparklines made of them.
Must not: know what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs


@attrs.frozen
class Look:
    """A set of marks; each is one column wide."""

    ascii: bool
    folded: str
    unfolded: str
    good: str
    bad: str
    full: str
    empty: str
    spark: str
    arrow: str
    line: str
    waits: str
    works: str
    branch: str
    last: str
    trunk: str

    def bar(self, part: float, cells: int) -> str:
        """How much of a whole: 0 to 1."""
        done = max(0, min(cells, round(part * cells)))
        return self.full * done + self.empty * (cells - done)

    def sparkline(self, values: Sequence[float], cells: int) -> str:
        """The newest values, each as high as its part of the greatest."""
        shown = list(values)[-cells:]
        top = max(shown, default=0) or 1
        steps = len(self.spark) - 1
        return "".join(self.spark[round(max(0.0, value) * steps / top)] for value in shown)


UNICODE = Look(
    ascii=False,
    folded="▸",
    unfolded="▾",
    good="✓",
    bad="✗",
    full="█",
    empty="░",
    spark=" ▁▂▃▄▅▆▇█",
    arrow="→",
    line="─",
    waits="○",
    works="●",
    branch="├─",
    last="└─",
    trunk="│ ",
)
ASCII = Look(
    ascii=True,
    folded="+",
    unfolded="-",
    good="v",
    bad="x",
    full="#",
    empty=".",
    spark=" .:-=+*#%",
    arrow=">",
    line="-",
    waits="o",
    works="*",
    branch="|-",
    last="`-",
    trunk="| ",
)
