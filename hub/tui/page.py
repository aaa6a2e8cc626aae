"""What every page has: the line of pages on top, how it stands with the daemon, the keys below, and its loading.

Owns: that frame, that a page asks the daemon once at a time, and again when something happened meanwhile, and that what the
daemon refuses is said.
Must not: know what a page shows.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, ClassVar, Protocol, cast

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.events import Click
from textual.screen import Screen
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

from hub.domain.event import RecordJson
from hub.errors import HubError
from hub.tui.daemon import LocalDaemon
from hub.tui.look import Look
from hub.tui.projects import Project
from hub.tui.rows import MORE, Choices, Piece, Rows, plain

PAGES: tuple[tuple[str, str, str, str], ...] = (
    ("1", "board", "Board", "Every session, who needs you first"),
    ("2", "quota", "Quota", "What each account has left, and when it resets"),
    ("3", "pipelines", "Pipelines", "Tasks that wait for each other, and the last run"),
    ("4", "history", "History", "Snapshots to go back to, and what was recorded"),
    ("5", "detected", "Detected", "Agents on this machine, and going on with their work"),
    ("6", "providers", "Providers", "Which agents can work, their logins and failures"),
    ("7", "events", "Events", "Every event, with a filter"),
    ("8", "graph", "Graph", "The code that answers a question"),
    ("9", "cost", "Cost", "By agent and by session"),
)
"""Key, name, heading and sentence of each page."""
_ACTION = {"system", "handoff", "waiting", "error", "quota"}
"""Tags of events after which what the daemon answers may be another."""


class Hub(Protocol):
    """What pages know of the app (`hub.tui.app.HubApp`)."""

    daemon: LocalDaemon
    look: Look
    clock: Callable[[], float]
    zone: str
    project: str
    root: str
    notice: str
    """How it stands with the daemon, in words; empty while all is well."""
    outside: bool
    """Whether there is no project here to have a daemon."""
    events: deque[RecordJson]
    """The newest ones."""
    others: Callable[[], list[Project]]

    @property
    def up(self) -> bool:
        """Whether there is a daemon to ask."""

    @property
    def alone(self) -> bool:
        """Whether it is known that no daemon answers."""

    def painted(self) -> None:
        """The first page is on the screen."""

    def action_page(self, name: str) -> None:
        """Go to a page."""

    def open_session(self, session_id: str) -> None:
        """Look at a session."""

    def visit(self, project: Project, session_id: str) -> None:
        """Go over to another project, and look at a session of it."""

    def pop_screen(self) -> object:
        """Go back to the page before."""


class Bar(Static):
    """A line of what can be gone to, each with its key; a click goes there.

    Args:
        places: Key, name and heading of each.
        current: The name of the one that is seen.
        go: Takes the name of another one.
    """

    DEFAULT_CSS = "Bar { height: 1; background: $panel; color: $foreground; }"

    def __init__(
        self, places: Sequence[tuple[str, str, str]], current: str, go: Callable[[str], object]
    ) -> None:
        super().__init__(markup=False)
        self.places = places
        self.current = current
        self.go = go
        self.hint = ""
        """A word behind them."""

    def _shown(self) -> Iterator[tuple[str, str]]:
        """Each with its heading; where there is no room the keys stand close to these, and the last ones alone."""
        wide, room = sum(len(f" {key} {heading}") for key, _, heading in self.places) + 1, self.size.width
        gap = " " if wide <= room else ""
        short = wide - (0 if gap else len(self.places)) - room
        bare = set()
        for _, name, heading in reversed(self.places):
            if short > 0 and name != self.current:
                bare.add(name)
                short -= len(heading)
        for key, name, heading in self.places:
            words = key if name in bare else f"{key}{gap}{heading}"
            yield name, f"[{words}]" if name == self.current else f" {words}"

    def render(self) -> Any:
        """The current one marked."""
        from rich.text import Text

        text = Text(no_wrap=True, end="")
        for name, words in self._shown():
            text.append(words, "bold reverse" if name == self.current else "")
        return text.append(self.hint) if len(text) + len(self.hint) <= self.size.width else text

    def on_click(self, event: Click) -> None:
        """Go to the one under the pointer."""
        at = 0
        for name, words in self._shown():
            at += len(words)
            if event.x < at:
                self.go(name)
                return


class FittingFooter(Footer):
    """The keys below: those that every page has (help, the way out), and of the page's own as many as there is room for."""

    def compose(self) -> ComposeResult:
        """Each whole, or not at all: `?` lists them all."""
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        bindings = self.screen.active_bindings.values()
        everywhere = {found.binding.action for found in bindings if found.node is self.app}
        room = self.size.width + 1 - sum(_wide(key) for key in keys if key.action in everywhere)
        for key in keys:
            if key.action not in everywhere:
                room -= _wide(key)
            if room >= 0 or key.action in everywhere:
                yield key

    def on_resize(self) -> None:
        """There is another room."""
        self.bindings_changed(self.screen)


def _wide(key: FooterKey) -> int:
    """Columns of a key, its word, and the blank behind."""
    return cell_len(key.key_display) + 1 + cell_len(key.description) + 1


class Page(Screen[None]):
    """A page of the app."""

    DEFAULT_CSS = """
    Page { background: $background; }
    Page > #notice { height: auto; display: none; background: $warning-muted; color: $text-warning; padding: 0 1; }
    Page > #heading { height: auto; max-height: 2; text-style: bold; padding: 0 1; }
    """
    NAME: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "reload", "Refresh", show=False)]
    ON: ClassVar[frozenset[str]] = frozenset(_ACTION)
    """Tags of events that make it load again."""
    OF_ROW: ClassVar[frozenset[str]] = frozenset()
    """Actions on what the cursor is at: without that they are not among the keys."""

    def __init__(self) -> None:
        super().__init__()
        self._loading = False
        self._again = False
        self.stale = True
        """Whether it is to be loaded when it is seen."""

    @property
    def hub(self) -> Hub:
        """The app, as pages know it."""
        return cast("Hub", self.app)

    @property
    def look(self) -> Look:
        """The marks it is drawn with."""
        return self.hub.look

    @property
    def now(self) -> float:
        """The wall clock."""
        return self.hub.clock()

    @property
    def at(self) -> str:
        """What the row at the cursor stands for; "" = nothing."""
        return next((rows.key for rows in self.query(Rows)), "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing can be done to a row where there is none."""
        return False if action in self.OF_ROW and not self.at else super().check_action(action, parameters)

    def compose(self) -> ComposeResult:
        """The frame, and what the page has between it."""
        yield Bar([page[:3] for page in PAGES], self.NAME, self.hub.action_page)
        yield Static(id="notice", markup=False)
        yield Static(id="heading", markup=False)
        yield from self.body()
        yield FittingFooter(show_command_palette=False, compact=True)

    def body(self) -> ComposeResult:
        """What is between the head and the keys."""
        yield Choices(id="rows")

    def on_mount(self) -> None:
        """Say what is known already."""
        self.told()

    def on_screen_resume(self) -> None:
        """It is seen: what is shown is as it is now."""
        self.told()
        if self.stale:
            self.reload()

    def told(self) -> None:
        """How it stands with the daemon has changed, or this page is seen again."""
        notice = self.query_one("#notice", Static)
        words = self.hub.notice
        notice.update(words)
        notice.display = bool(words)

    def heading(self, text: str) -> None:
        """The page's second line."""
        self.query_one("#heading", Static).update(plain(text))

    def news(self, records: Sequence[RecordJson]) -> None:
        """What has happened; at most ten times a second."""
        if any(record["tag"] in self.ON for record in records):
            self.reload()

    def action_reload(self) -> None:
        """Ask the daemon now."""
        self.reload()

    @property
    def answered(self) -> bool:
        """Whether there is anybody to ask."""
        return self.hub.up

    def reload(self) -> None:
        """Load, now or as soon as it is seen; while it loads, once more after that."""
        if not self.is_current:
            self.stale = True
        elif self._loading:
            self._again = True
        elif self.answered:
            self._loading, self.stale = True, False
            self.run_worker(self._load(), group="load")

    async def _load(self) -> None:
        began = time.monotonic()
        try:
            await self.load()
        except HubError as error:
            self.stale = True
            self.failed(error.detail, error.hint)
        except NoMatches:
            if self.app.is_running and self.is_current and self.is_attached:
                raise
            self.stale = True  # its parts are taken down from the leaves upwards: it, or all of the screen, is being left
        finally:
            self._loading = False
        if self._again:
            self._again = False
            self.set_timer(max(0.01, began + _SELDOM - time.monotonic()), self.reload)

    def order(self, work: Coroutine[object, object, None]) -> None:
        """Carry an order out, and show what is different then; what the daemon refuses is said."""
        self.run_worker(self._ordered(work), group="orders")

    def attempt(self, work: Coroutine[object, object, None]) -> None:
        """Do something with the daemon that changes nothing on this page; what it refuses is said."""
        self.run_worker(self._tried(work), group="details")

    async def _ordered(self, work: Coroutine[object, object, None]) -> None:
        await self._tried(work)
        self.reload()

    async def _tried(self, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except HubError as error:
            self.say(f"{error.detail.partition(chr(10))[0]} {error.hint}", bad=True)

    async def load(self) -> None:
        """Ask the daemon, and show what it says."""

    def failed(self, detail: str, hint: str) -> None:
        """The daemon did not say what was asked."""
        self.heading(f"{detail.partition(chr(10))[0]}  {hint}")

    def say(self, words: str, *, bad: bool = False) -> None:
        """A word at the edge of the screen, for a few seconds."""
        self.notify(plain(words)[:300], severity="error" if bad else "information", markup=False)


_SELDOM = 0.5
"""Seconds between two questions of a page that news asks for."""


def cut(text: str, width: int) -> str:
    """One line of at most so many letters."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: max(0, width - len(MORE))] + MORE


def label(name: str, text: str, look: str = "", *, wide: int = 11) -> tuple[Piece, Piece]:
    """A name and what it is, as two pieces of a row."""
    return (f"{name:<{wide}}", "dim"), (text, look)
