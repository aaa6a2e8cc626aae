"""The app: its pages, what is drawn when, and how it stands with the daemon.

Owns: the way from the live events to the page in sight, at most ten times a second, and the keys that every page has.
Must not: import Trio or a page that nobody sees before the first paint, or hold what a page shows.

Nothing moves while nothing happens: there is no timer but the one that holds back the next ten events.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.events import Event
from textual.filter import LineFilter, NoColor
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender

from hub.client.quick import Api
from hub.domain.event import RecordJson
from hub.domain.wallclock import local
from hub.errors import Code, HubError
from hub.tui.board import BoardPage
from hub.tui.daemon import LocalDaemon, off_loop
from hub.tui.link import Link, LinkStanding
from hub.tui.look import UNICODE, Look
from hub.tui.notice import ScreenNotice
from hub.tui.page import PAGES, Page
from hub.tui.projects import Project
from hub.tui.rows import PlainBars, plain
from hub.tui.typed import TypedKeys

_KEPT = 5000
"""Events that their page can show."""
_NAMES = {"escape": "esc"}
_PACE = 0.1
"""Seconds between two repaints that events ask for."""


class HubApp(App[None]):
    """`hub tui`.

    Args:
        find: Where the daemon is.
        project: What it is called on the screen.
        look: The marks it is drawn with.
        theme: One of Textual's.
        clock: The wall clock.
        start: Starts a daemon where none runs; None = that is not to be had.
        root: The project's folder.
        others: The user's projects whose daemons run, this one too; asked when they are to be seen.
    """

    TITLE = "hub"
    CSS = """
    FooterKey .footer-key--key { color: $text-primary; }
    Input > .input--placeholder { color: $foreground; text-style: dim; }
    .ascii Dialog > Vertical { border: ascii $primary; }
    .ascii Dialog Input { border: ascii $primary; }
    .ascii Toast { border: none; }
    .ascii CommandPalette #--input { border: ascii $primary; }
    .ascii CommandPalette SearchIcon { display: none; }
    .ascii CommandList { border: ascii $primary; }
    """
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("S", "start_daemon", "Start a daemon"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
        *(Binding(key, f"page('{name}')", heading, show=False) for key, name, heading, _ in PAGES),
    ]

    def __init__(
        self,
        find: Callable[[], Api],
        *,
        project: str = "",
        look: Look = UNICODE,
        theme: str = "textual-dark",
        clock: Callable[[], float] = time.time,
        start: Callable[[], object] | None = None,
        root: str = "",
        others: Callable[[], list[Project]] = list,
    ) -> None:
        super().__init__()
        self.others = others
        self.look = look
        self.clock = clock
        self.wanted_theme = theme
        self.animation_level = "none"
        self.zone = f"{local(clock()):%Z}"
        self._typed = TypedKeys(self, super().on_event)
        self._starting = False
        self.taken = 0
        """Events that came in, over all."""
        self._pages: dict[str, Page] = {}
        self._drawn = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mine = contextvars.copy_context()
        """Textual's own variables, which a call from a thread comes without."""
        self._turn_to(Project(project, root, find, start))

    def _turn_to(self, project: Project) -> None:
        """From here on all is of this project."""
        self.project, self.root, self.start = project.name, project.root, project.start
        self.daemon = LocalDaemon(project.find)
        self.standing = LinkStanding.LOOKING
        self._heard: LinkStanding | None = None
        self.notice, self.outside = "", False
        self.events: deque[RecordJson] = deque(maxlen=_KEPT)
        inbox: deque[list[RecordJson]] = deque()
        self._inbox, self._due = inbox, False

        def told(standing: LinkStanding, error: HubError | None) -> None:
            if self._inbox is inbox:  # a link that was left may have a last word
                self._told(standing, error)

        self._link = Link(project.find, lambda batch: self._deliver(inbox, batch), told)

    def visit(self, project: Project, session_id: str) -> None:
        """Go over to another project, and look at a session of it."""
        self.action_page("board")
        self._link.close(0)
        for name in [name for name in self._pages if name != "board"]:
            self.uninstall_screen(self._pages.pop(name))
        self._turn_to(project)
        board = self._pages["board"]
        if isinstance(board, BoardPage):
            board.turned()
        self._link.open()
        self.open_session(session_id)

    @property
    def up(self) -> bool:
        """Whether there is a daemon to ask."""
        return self.standing is LinkStanding.UP

    @property
    def alone(self) -> bool:
        """Whether it is known that no daemon answers."""
        return self._heard is not None and not self.up

    def on_mount(self) -> None:
        """The first page; the daemon is looked for once that is painted."""
        self.theme = self.wanted_theme
        self.set_class(self.look.ascii, "ascii")
        ScrollBar.renderer = PlainBars if self.look.ascii else ScrollBarRender
        self._loop, self._mine = asyncio.get_running_loop(), contextvars.copy_context()
        self.action_page("board")

    def painted(self) -> None:
        """The first page is on the screen: look for the daemon."""
        self._link.open()

    def on_unmount(self) -> None:
        """Leave the daemon alone."""
        self._link.close()

    async def on_event(self, event: Event) -> None:
        """A key waits for what the one before it opens."""
        await (self._typed.take(event) if self._typed.has(event) else super().on_event(event))

    def _deliver(self, inbox: deque[list[RecordJson]], batch: list[RecordJson]) -> None:
        """In the link's thread: keep it, and see that it is taken; of a link that was left nothing is."""
        inbox.append(batch)
        if inbox is self._inbox and not self._due:
            self._due = True
            self._soon(self._arrange)

    def _told(self, standing: LinkStanding, error: HubError | None) -> None:
        """In the link's thread: how it stands."""
        if standing is not self._heard:  # what is shown may be older: it is the other thread's
            self._heard = standing
            self._soon(lambda: self._stands(standing, error))

    def _soon(self, what: Callable[[], None]) -> None:
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(what, context=self._mine)
            except RuntimeError:
                return  # the program has ended

    def _arrange(self) -> None:
        """Take what came now, or when the next repaint may be."""
        wait = self._drawn + _PACE - time.monotonic()
        if wait <= 0:
            self._take_news()
        elif self._loop is not None:
            self._loop.call_later(wait, self._take_news, context=self._mine)

    def _take_news(self) -> None:
        self._drawn = time.monotonic()
        self._due = False
        fresh: list[RecordJson] = []
        while self._inbox:
            fresh += self._inbox.popleft()
        self.taken += len(fresh)
        self.events += fresh
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.news(fresh)
        for page in self._pages.values():
            page.stale = page.stale or not page.is_current

    def _stands(self, standing: LinkStanding, error: HubError | None) -> None:
        before, self.standing = self.standing, standing
        self.outside = error is not None and error.code is Code.NOT_A_REPOSITORY
        self._announce(_notice(standing, error, can_start=self.start is not None))
        self.refresh_bindings()
        for screen in self.screen_stack:
            if isinstance(screen, Page) and standing is LinkStanding.UP and before is not LinkStanding.UP:
                screen.reload()

    def _announce(self, notice: str) -> None:
        """What is said of the daemon, on every page until it is another."""
        self.notice = notice
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.told()

    def action_page(self, name: str) -> None:
        """Go to a page; it is made when it is first seen."""
        page = self._pages.get(name)
        if page is None:
            page = self._pages[name] = _page(name)
            self.install_screen(page, name)  # else it would be gone as soon as another one is seen
        while len(self.screen_stack) > 2:  # noqa: PLR2004  # the default screen, and one page
            self.pop_screen()
        if len(self.screen_stack) == 2:  # noqa: PLR2004  # as above
            if self.screen is not page:
                self.switch_screen(page)
        else:
            self.push_screen(page)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Say something for some seconds, as Textual's own does, which may never end."""
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(ScreenNotice(message, title, severity, seconds, markup)))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """No colour at all where none is wanted; Textual's own way leaves greys."""
        return [NoColor()] if self.no_color else super().get_line_filters()

    def get_key_display(self, binding: Binding) -> str:
        """Keys by their names: not every terminal has the arrows and returns that Textual draws."""
        return binding.key_display or _NAMES.get(binding.key, binding.key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A daemon can be started where none answers."""
        if action == "start_daemon":
            return self.start is not None and self.alone and self.standing is not LinkStanding.REFUSED
        return super().check_action(action, parameters)

    def action_start_daemon(self) -> None:
        """Start one in the background, as `hub run --detach` does."""
        if self.start is not None and not self._starting:
            self._starting = True
            self.run_worker(self._start(self.start), group="start")

    async def _start(self, start: Callable[[], object]) -> None:
        self._announce("Starting a daemon for this project ...")
        try:
            await off_loop(start)
        except HubError as error:
            self._announce(plain(f"{error.detail} {error.hint}"))
        finally:
            self._starting = False

    def action_command_palette(self) -> None:
        """Every order by its name."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="Search for an order or a page"))

    def action_help(self) -> None:
        """The keys of this page, and those of all."""
        from hub.tui.dialogs import Read
        from hub.tui.help import rows_of

        if isinstance(self.screen, Page):
            self.push_screen(Read("Keys", list(rows_of(self.screen))))

    def open_session(self, session_id: str) -> None:
        """Look at a session; Escape leads back."""
        from hub.tui.session import SessionPage

        self.push_screen(SessionPage(session_id))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers: the page's own orders, the pages, light and dark, the way out."""
        from hub.tui.help import orders_of

        if isinstance(screen, Page):
            for binding, sentence in orders_of(screen).items():
                yield SystemCommand(binding.description, sentence, partial(screen.run_action, binding.action))
        for _, name, heading, sentence in PAGES:
            yield SystemCommand(f"Go to {heading}", sentence, lambda name=name: self.action_page(name))
        yield SystemCommand("Light", "Dark letters on a light ground", lambda: self._wear("textual-light"))
        yield SystemCommand("Dark", "Light letters on a dark ground", lambda: self._wear("textual-dark"))
        yield SystemCommand("Quit", "Leave; the sessions go on", self.exit)

    def _wear(self, theme: str) -> None:
        self.theme = theme


def _page(name: str) -> Page:
    """A page by its name, which is its module's and its class's; each but the first is imported when it is first seen."""
    module = importlib.import_module(f"hub.tui.{name}")
    page: Page = getattr(module, f"{name.title()}Page")()
    return page


def _notice(standing: LinkStanding, error: HubError | None, *, can_start: bool) -> str:
    """What is said about the daemon; nothing while it is there."""
    start = "S starts one." if can_start else "Start it: hub daemon"
    match standing:
        case LinkStanding.UP:
            return ""
        case LinkStanding.LOOKING:
            return f"No daemon runs for this project yet; waiting for one. {start}"
        case LinkStanding.AWAY:
            return f"The daemon is away; looking for it. Agents work on, nothing is lost. {start}"
        case LinkStanding.REFUSED if error is not None and error.code is Code.NOT_A_REPOSITORY:
            return f"{error.detail} The board has the sessions of all your projects; enter goes to one."
        case LinkStanding.REFUSED:
            return f"{error.detail} {error.hint}" if error is not None else "The daemon refuses."
