"""The box of an approval: the whole of what is asked, and the answer with its note.

Owns: how a request is shown in full, the way through several, and its keys.
Must not: decide whether it may still be answered; the daemon does.

A yes counts only for what was seen: to the end, and for a moment. Always is a key of its own, for the one that opens the
box may be held down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from hub.api.approvals import Approval
from hub.domain.wallclock import moment
from hub.tui.dialogs import Dialog
from hub.tui.diffs import colour_of
from hub.tui.page import FittingFooter
from hub.tui.rows import Row, Rows, fitted, plain, row

Answer = tuple[str, bool, bool, str]
"""The request, whether it is allowed, whether for the rest of the session, and the words for the agent."""
GRACE = 0.7
"""Seconds a request is on the screen before a key allows it."""
_TITLE = 100
_SEVERITY = {"info": "info", "warn": "warn", "danger": "bad"}


class ApprovalBox(Dialog[Answer | None]):
    """What waits for the user's word, one request at a time."""

    DEFAULT_CSS = """
    ApprovalBox Rows { height: auto; }
    ApprovalBox Input { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Allow once"),
        Binding("n", "answer(False)", "Deny"),
        Binding("A", "always", "Always"),
        Binding("t", "note", "Note"),
        Binding("right,tab", "next(1)", "Next", show=False),
        Binding("left,shift+tab", "next(-1)", "Previous", show=False),
    ]

    def __init__(
        self, waiting: list[Approval], first: str = "", now: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self.waiting = waiting
        self._now = now
        self._since = now()
        self.at = next((place for place, one in enumerate(waiting) if one.session_id == first), 0)
        self.note = ""

    def compose(self) -> ComposeResult:
        """The request, and a line for the note."""
        with Vertical():
            yield Static(classes="title", markup=False)
            yield Rows(id="request")
            yield Input(placeholder="Words for the agent; Enter keeps them, then y or n")
        yield FittingFooter(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """The first of them."""
        self.query_one(Rows).focus()
        self._turn(self.at)

    def on_resize(self) -> None:
        """What is asked is seen whole at any size, and to its end before a yes counts."""
        self._draw()

    def _turn(self, to: int) -> None:
        """Another one, from its beginning."""
        self.at, self._since = to, self._now()
        self.query_one(Rows).scroll_to(y=0, animate=False)
        self._draw()

    def _draw(self) -> None:
        one = self.waiting[self.at]
        many = f"  ({self.at + 1} of {len(self.waiting)}, left and right)" if len(self.waiting) > 1 else ""
        self.query_one(".title", Static).update(plain(f"{one.action.split(chr(10))[0][:_TITLE]}{many}"))
        rows = self.query_one(Rows)
        lines = [part for line in request_rows(one, self.note) for part in fitted(line, self.room)]
        rows.styles.height = max(1, min(len(lines), self.app.size.height - 9))
        rows.show(lines)

    def action_next(self, by: int) -> None:
        """Another one."""
        self._turn((self.at + by) % len(self.waiting))

    def action_note(self) -> None:
        """Write to the agent."""
        line = self.query_one(Input)
        line.display = True
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The note is kept; the answer comes by its key."""
        self.note = event.value.strip()
        self.query_one(Input).display = False
        self.query_one(Rows).focus()
        self._draw()

    def action_answer(self, allowed: bool) -> None:  # noqa: FBT001  # given by its key
        """Say it."""
        if not allowed or self._seen():
            self.dismiss((self.waiting[self.at].id, allowed, False, self.note))

    def action_always(self) -> None:
        """Allow this, and whatever is just the same in this session."""
        if self._seen():
            self.dismiss((self.waiting[self.at].id, True, True, self.note))

    def _seen(self) -> bool:
        rows = self.query_one(Rows)
        if rows.scroll_offset.y < rows.max_scroll_y:
            self.notify("There is more below: space goes on; allow it at its end.", markup=False)
            return False
        return self._now() - self._since >= GRACE


def request_rows(one: Approval, note: str = "") -> Iterator[Row]:
    """Everything that is known of a request, nothing cut."""
    lapse = one.lapse(lambda at: moment(at, time.time()))
    if "\n" in one.action or len(one.action) > _TITLE:
        for line in one.action.split("\n"):
            yield row((line, "bold"))
    yield row(
        (one.severity, _SEVERITY.get(one.severity, "")), (f"  {one.who}  {one.tool}  {lapse}".rstrip(), "dim")
    )
    if one.why:
        yield row(one.why)
    for name, value in one.context.items():
        if name != "cut" and str(value) != one.action.removeprefix(f"{one.tool}: "):
            yield from _context(name, value)
    if one.cut:
        yield row((one.cut, "bad"))
    if note:
        yield row(("you say: ", "dim"), (note, "mine"))


def _context(name: str, value: object) -> Iterator[Row]:
    if isinstance(value, dict):
        for inner, each in value.items():
            yield from _context(f"{name}.{inner}", each)
        return
    lines = str(value).rstrip("\n").split("\n")
    diff = any(line.startswith(("@@", "+++ ", "--- ")) for line in lines)
    if len(lines) == 1:
        yield row((f"{name}: ", "dim"), (lines[0], "bold"))
        return
    yield row((f"{name}:", "dim"))
    for line in lines:
        yield row((f"  {line}", colour_of(line) if diff else ""))
