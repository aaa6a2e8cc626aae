"""Questions on top of a page: a line of text, a yes or no, one of a list, and a long text to read.

Owns: these boxes and their keys.
Must not: know what is asked for.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from hub.tui.page import FittingFooter
from hub.tui.rows import Choices, Row, Rows, fitted, plain, row

R = TypeVar("R")


class Dialog(ModalScreen[R]):
    """A box in the middle; Escape leaves it without an answer."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Vertical { width: 90%; max-width: 120; height: auto; max-height: 90%; padding: 0 1; }
    Dialog > Vertical { background: $surface; border: round $primary; }
    Dialog .title { text-style: bold; }
    Dialog .hint { color: $text-muted; }
    Dialog Rows { height: auto; max-height: 100%; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]
    LINES: ClassVar[int] = 30
    """Of what it is about, at most."""

    def __init__(self, title: str = "", about: str = "") -> None:
        super().__init__()
        self.words = title, about

    def compose(self) -> ComposeResult:
        """What is asked, what it is about, and what is between that and the keys."""
        title, about = self.words
        with Vertical():
            yield Static(plain(title), classes="title", markup=False)
            if about:
                lines = about.split("\n")[: self.LINES]
                yield Static("\n".join(map(plain, lines)), markup=False)
            yield from self.body()
        yield FittingFooter(show_command_palette=False, compact=True)

    def body(self) -> ComposeResult:
        """What is answered with."""
        yield from ()

    @property
    def room(self) -> int:
        """Columns for a line of text: between the frame, the cursor's column and the scrollbar."""
        return max(20, min(120, self.app.size.width * 9 // 10) - 6)

    def action_leave(self) -> None:
        """No answer."""
        self.dismiss(None)


class AnswerLine(Input):
    """A line to write in; what sends it is among the keys below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "Send")]


class AskText(Dialog[str | None]):
    """A line of text; an empty one is no answer."""

    LINES = 12

    def __init__(self, title: str, about: str = "", value: str = "", *, needed: bool = True) -> None:
        super().__init__(title, about)
        self.value = value
        self.needed = needed

    def body(self) -> ComposeResult:
        """The line."""
        yield AnswerLine(self.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The answer."""
        text = event.value.strip()
        if text or not self.needed:
            self.dismiss(text)


class Confirm(Dialog[bool | None]):
    """Yes or no to what cannot be taken back at once."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "yes", "Yes"), Binding("n", "no", "No")]

    def action_yes(self) -> None:
        """Do it."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Leave it."""
        self.dismiss(False)


class Choose(Dialog[str | None]):
    """One of a list."""

    def __init__(self, title: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__(title)
        self.choices = choices

    def body(self) -> ComposeResult:
        """The list."""
        yield Choices(id="choices")

    def on_mount(self) -> None:
        """Each choice is a row."""
        rows = self.query_one(Rows)
        rows.styles.height = min(len(self.choices), 15)
        rows.show([row(text, key=key) for key, text in self.choices])
        rows.focus()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """That one."""
        self.dismiss(event.key)


class Read(Dialog[None]):
    """Text to read; any of the keys of a list moves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,enter", "leave", "Back", show=False)]

    def __init__(self, title: str, lines: Sequence[Row]) -> None:
        super().__init__(title)
        self.lines_shown = lines

    def body(self) -> ComposeResult:
        """The text."""
        yield Rows(id="text")

    def on_mount(self) -> None:
        """Its keys move the text."""
        self.query_one(Rows).focus()

    def on_resize(self) -> None:
        """Every line whole; as high as the text, where there is room."""
        lines = [part for line in self.lines_shown for part in fitted(line, self.room)]
        rows = self.query_one(Rows)
        rows.styles.height = max(1, min(len(lines), self.app.size.height - 8))
        rows.show(lines)
