"""A list of lines that is drawn where it is seen: the one widget of every page.

Owns: rows of plain pieces, their drawing, the cursor among those that can be chosen, and staying at the end.
Must not: know what a row means, or take any text for markup.

Only the rows in sight are drawn, whatever their number, and nothing is drawn while nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, ClassVar

import attrs
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip

from hub.domain.text.safe import clean

Piece = tuple[str, str]
"""A text, and how it looks: one of `LOOKS`, or ""."""
LOOKS = ("dim", "bold", "good", "bad", "warn", "info", "mine", "head")
MORE = ".."
"""At the end of a text that goes on."""
_TAB = "    "


@attrs.frozen
class Row:
    """One line."""

    pieces: tuple[Piece, ...]
    key: str = ""
    """What it stands for; a row without a key cannot be chosen."""


def row(*pieces: Piece | str, key: str = "") -> Row:
    """A row of pieces; a bare text has no look of its own."""
    return Row(tuple((piece, "") if isinstance(piece, str) else piece for piece in pieces), key)


def plain(text: str) -> str:
    """One line of it, safe to show: nothing that a terminal acts on, and no tab."""
    return clean(text).replace("\t", _TAB).replace("\n", " ")


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks where there are any."""
    found: list[str] = []
    for line in clean(text).replace("\t", _TAB).split("\n"):
        rest = line.rstrip()
        while cell_len(rest) > width > 0:
            end = _fitting(rest, width)
            at = rest.rfind(" ", 1, end + 1)
            cut = at if at > width // 3 else end
            found.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip()
        found.append(rest)
    return found


def fitted(line: Row, width: int) -> Iterator[Row]:
    """The row in as many as it takes to be seen whole: its last piece goes on below itself."""
    if _surely_fits(line, width):
        yield line
        return
    *before, (last, look) = line.pieces
    last = last.rstrip()
    indent = cell_len(plain("".join(text for text, _ in before)))
    if "\n" not in last and indent + cell_len(plain(last)) <= width:
        yield line
        return
    if indent > width // 2:
        before, indent, last = [], 0, "".join(text for text, _ in line.pieces)
    first, *rest = wrapped(last, width - indent)
    yield Row((*before, (first, look)), line.key)
    for part in rest:
        yield row(" " * indent, (part, look))


def _surely_fits(line: Row, width: int) -> bool:
    """Without a look at its letters' widths: most are."""
    texts = [text for text, _ in line.pieces]
    return sum(map(len, texts)) <= width and all(
        text.isascii() and "\n" not in text and "\t" not in text for text in texts
    )


def _fitting(text: str, width: int) -> int:
    """How many letters from the beginning have room in `width` columns; one at least."""
    if text[:width].isascii():
        return width
    for at, cells in enumerate(accumulate(map(cell_len, text))):
        if cells > width:
            return max(1, at)
    return len(text)


class Rows(ScrollView, can_focus=True):
    """The rows, with a cursor where any of them can be chosen."""

    DEFAULT_CSS = """
    Rows { background: $background; color: $foreground; scrollbar-size: 1 1; overflow-x: hidden; }
    Rows > .rows--cursor { background: $panel; text-style: bold; }
    Rows:focus > .rows--cursor { background: $primary-muted; text-style: bold; }
    Rows:light > .rows--cursor { background: $surface; }
    Rows:focus:light > .rows--cursor { background: $surface; }
    Rows > .rows--dim { text-style: dim; }
    Rows > .rows--bold { text-style: bold; }
    Rows > .rows--good { color: $text-success; }
    Rows > .rows--bad { color: $text-error; }
    Rows > .rows--warn { color: $text-warning; }
    Rows > .rows--info { color: $text-accent; }
    Rows > .rows--mine { color: $text-primary; text-style: bold; }
    Rows > .rows--head { color: $text-secondary; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", *(f"rows--{look}" for look in LOOKS)}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("J", "jump(1)", "Next", show=False),
        Binding("K", "jump(-1)", "Previous", show=False),
        Binding("home,g", "edge(-1)", "First", show=False),
        Binding("end,G", "edge(1)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    class Chosen(Message):
        """A row was chosen: Enter, or a click on the row that the cursor is at."""

        def __init__(self, rows: Rows, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> Rows:
            """The list that it stands in."""
            return self.rows

    class Moved(Message):
        """The cursor stands at another row."""

    def __init__(self, *, sticky: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._given: Sequence[Row] = ()
        self._room = 0
        """Columns that the rows were laid for; 0 = it is not known yet."""
        self.lines: Sequence[Row] = ()
        """As they are drawn: what cannot be opened to be read whole goes on below itself."""
        self.cursor = -1
        """The row that would be chosen; -1 = there is none."""
        self.sticky = sticky
        """Whether it stays at the end while it grows, until somebody goes up."""
        self.at_end = sticky
        self.aim = ""
        """What the cursor goes to as soon as it is there."""

    @property
    def key(self) -> str:
        """What the row at the cursor stands for; "" = nothing."""
        return self.lines[self.cursor].key if 0 <= self.cursor < len(self.lines) else ""

    def show(self, lines: Iterable[Row]) -> None:
        """Show these from here on; the cursor stays at what it stood at."""
        given = list(lines)
        if given != self._given or self.aim:
            self._given = given
            self._lay()

    def _lay(self) -> None:
        room = self._room = max(0, self.scrollable_content_region.width - 1)  # one is the cursor's
        new = [
            part for line in self._given for part in ((line,) if line.key or not room else fitted(line, room))
        ]
        key, before = self.key, self.cursor
        self.lines = new
        if any(line.key == self.aim for line in new):
            key, self.aim = self.aim or key, ""
        self.virtual_size = Size(0, len(new))
        self.cursor = self._place_of(key, before)
        if self.key != key:
            self.post_message(self.Moved())
            self.refresh_bindings()
        if self.sticky and self.at_end:
            self._to_end()
        self.refresh()

    def _place_of(self, key: str, before: int) -> int:
        """Where the key is now; else the nearest row that can be chosen."""
        choices = [at for at, line in enumerate(self.lines) if line.key]
        if not choices:
            return -1
        if self.sticky and self.at_end:
            return choices[-1]
        if key:
            for at in choices:
                if self.lines[at].key == key:
                    return at
        return min(choices, key=lambda at: abs(at - before)) if key else choices[0]

    def render_line(self, y: int) -> Strip:
        """One line of what is in sight."""
        at = y + round(self.scroll_offset.y)
        base, width = self.rich_style, self.scrollable_content_region.width
        if not 0 <= at < len(self.lines):
            return Strip.blank(width, base)
        line = self.lines[at]
        if at == self.cursor:
            base += self.get_component_rich_style("rows--cursor", partial=True)
        segments = [Segment(">" if at == self.cursor else " ", base)]
        segments += [Segment(plain(text), base + self._style(look)) for text, look in line.pieces]
        strip = Strip(segments)
        if cell_len(strip.text.rstrip()) > width:  # that there is more is seen
            strip = Strip([*strip.crop(0, max(0, width - len(MORE))), Segment(MORE, base)])
        return strip.adjust_cell_length(width, base)

    def _style(self, look: str) -> Style:
        return self.get_component_rich_style(f"rows--{look}", partial=True) if look else Style.null()

    @property
    def text(self) -> str:
        """All of it, as text."""
        return "\n".join("".join(text for text, _ in line.pieces) for line in self.lines)

    def action_move(self, by: int) -> None:
        """To the next row that can be chosen; where that is more than a screen away, a line on: each is seen."""
        near = self._near(by)
        self.put(near[0]) if near else self._roll(by)

    def action_page(self, by: int) -> None:
        """As much on as is in sight; no row is passed over unseen."""
        near = self._near(by)
        self.put(near[-1]) if near else self._roll(self._step * by)

    def action_jump(self, by: int) -> None:
        """To the next row that can be chosen, however far."""
        choices = [at for at, line in enumerate(self.lines) if line.key and (at - self.cursor) * by > 0]
        if choices:
            at = choices[0 if by > 0 else -1]
            self.put(at)
            self.scroll_to(y=at, animate=False)

    @property
    def _step(self) -> int:
        return max(1, self.size.height - 1)

    def _near(self, by: int) -> list[int]:
        """The rows that can be chosen within a screen of the cursor, the nearest first.

        Of a cursor out of sight: within a screen of the edge.
        """
        top = round(self.scroll_offset.y)
        seen = top <= self.cursor < top + self.size.height
        here = self.cursor if seen else top - 1 if by > 0 else top + self.size.height
        ways = (here + by * far for far in range(1, self._step + 1))
        return [at for at in ways if 0 <= at < len(self.lines) and self.lines[at].key]

    def action_edge(self, where: int) -> None:
        """The first, or the last."""
        choices = [at for at, line in enumerate(self.lines) if line.key]
        if choices:
            self.put(choices[0 if where < 0 else -1])
        if where > 0:
            self.at_end = self.sticky
            self._to_end()
        else:
            self.at_end = False
            self.scroll_to(y=0, animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where no row can be chosen Enter does nothing, and is not among the keys below."""
        return bool(self.key) if action == "choose" else super().check_action(action, parameters)

    def action_choose(self) -> None:
        """What Enter does."""
        self.post_message(self.Chosen(self, self.key))

    def put(self, at: int) -> None:
        """The cursor to that row, which is then in sight."""
        if at != self.cursor:
            self.cursor = at
            self.post_message(self.Moved())
            self.refresh()
        self.scroll_to_region(Region(0, at, 1, 1), animate=False, force=True)
        last = max((place for place, line in enumerate(self.lines) if line.key), default=-1)
        self.at_end = self.sticky and at >= last

    def _roll(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)
        self.at_end = self.sticky and self.scroll_offset.y + by >= self.max_scroll_y

    def _to_end(self) -> None:
        self.scroll_to(y=max(0, len(self.lines) - self.size.height), animate=False, force=True)

    def on_resize(self) -> None:
        """What is too long now goes on below itself; what was at the end is there still."""
        if self._room != max(0, self.scrollable_content_region.width - 1):
            self._lay()
        if self.sticky and self.at_end:
            self._to_end()

    def on_click(self, event: Click) -> None:
        """A click moves the cursor; a second one on the same row chooses it."""
        at = event.y + round(self.scroll_offset.y)
        if not (0 <= at < len(self.lines) and self.lines[at].key):
            return
        if at == self.cursor:
            self.action_choose()
        self.put(at)

    def _on_mouse_scroll_up(self, event: Any) -> None:
        self.at_end = False
        super()._on_mouse_scroll_up(event)


class PlainBars(ScrollBarRender):
    """Scrollbars of whole cells: their finer ends are no ASCII."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


class Choices(Rows):
    """Rows that open something: the key is shown below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Open")]
