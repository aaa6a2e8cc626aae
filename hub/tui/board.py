"""The board: every session by what it needs.

Owns: the groups, their order, and the line of a session.
Must not: compute anything the daemon has not said.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from textual.binding import Binding, BindingType

from hub.api.sessions import Session, Sessions
from hub.domain.quota import spoken
from hub.domain.standing import GROUPS, NEEDED, QUEUED, WAITS, WORKS
from hub.domain.text.figures import agent_name
from hub.domain.wallclock import moment
from hub.tui.daemon import off_loop
from hub.tui.orders import OrderFacts, OrdersPage
from hub.tui.page import cut
from hub.tui.projects import Project, sessions
from hub.tui.rows import Piece, Row, Rows, row

_LOOKS = {"completed": "good", "failed": "bad", "stopped": "warn"}
_AGAIN = 3.0
"""Seconds between two looks at all projects, while they are shown."""
_WIDE = 100
"""Columns from which on there is room for the agent beside the task."""
_NARROW = 60
"""Columns below which the task has the room of the time, and of a long word for how it stands."""
_SHOWN = 100
"""Sessions that have ended, at most."""


def rows_of(
    sessions: list[Session], now: float, width: int, projects: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Row]:
    """The groups that have any session, each under its heading, the newest first; with `projects` whose each is."""
    groups: list[list[Session]] = [[] for _ in GROUPS]
    for session in reversed(sessions):
        groups[session.group].append(session)
    for name, members in zip(GROUPS, groups, strict=True):
        if not members:
            continue
        yield row((f"{name} ({len(members)})", "head"))
        for session in members[:_SHOWN]:
            yield _line(session, now, width, projects.get(session.session_id, ""))
            if session.last:
                yield _below(session, now, width)
        if len(members) > _SHOWN:
            yield row((f"  and {len(members) - _SHOWN} older ones: hub ls --all", "dim"))


def state_of(session: Session, now: float) -> Piece:
    """What it does, in a word or two."""
    place = session.group
    if place == WAITS and session.wait_until:
        return f"until {moment(session.wait_until, now)}", "warn"
    told = session.standing
    if place == NEEDED:
        return told, "mine"
    if session.session_state == "completed" and not session.verified:
        return told, "warn"
    return told, "dim" if place == QUEUED else _LOOKS.get(session.session_state, "info")


def _line(session: Session, now: float, width: int, project: str) -> Row:
    """What it does, and its task; who works at it where there is room, and since when."""
    told, look = state_of(session, now)
    since = session.ended_at or session.started_at
    when = moment(since, now) if since else ""
    moved = f"{session.handoffs_done}x" if session.handoffs_done else ""
    who = cut(agent_name(session.active_provider, session.account), 16)
    beside = (f"{who:<17}", (f"{moved:<4}", "warn")) if width >= _WIDE else ()
    named = f"{project}: {session.title}" if project else session.title
    if width < _NARROW:
        return row((f" {cut(told, 14):<15}", look), cut(named, width - 18), key=session.session_id)
    room = width - (60 if beside else 37)
    title = cut(named, room)
    return row(
        (f" {told:<19}", look),
        f"{title:<{room + 1}}",
        *beside,
        (f"{when:>12}", "dim"),
        key=session.session_id,
    )


def _below(session: Session, now: float, width: int) -> Row:
    """What its agent did last, or why there is none at work, and who that is where it is not beside the task."""
    who = "" if width >= _WIDE else f"{agent_name(session.active_provider, session.account)}  "
    return row((f"    {cut(who + spoken.told(session.last, now), width - 8)}", "dim"))


class BoardPage(OrdersPage):
    """The first page."""

    NAME = "board"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "A",
            "everywhere",
            "All projects",
            show=False,  # the heading has it
            tooltip="The sessions of all your projects, or of this one alone",
        ),
    ]

    def on_mount(self) -> None:
        """What is seen before the daemon has been asked."""
        super().on_mount()
        self.sessions: list[Session] = []
        self.elsewhere: list[tuple[Project, list[Session]]] = []
        """Of the other projects, while they are shown."""
        self.everywhere = False
        self._looks = self.set_interval(_AGAIN, self.reload, pause=True)
        self.heading(f"{self.hub.project}  looking for the daemon")
        # Of the page, not of the app: the app's own is given to the screen below and may never be called.
        self.call_after_refresh(self.hub.painted)

    async def load(self) -> None:
        """Every session."""
        daemon = self.hub.daemon
        own = (await daemon.get(Sessions, "/api/sessions")).sessions if self.hub.up else self.sessions
        elsewhere = await self._others() if self.everywhere else []
        if daemon is self.hub.daemon:  # else it is of a project that was left
            self.sessions, self.elsewhere = own, elsewhere
            self.draw()

    @property
    def answered(self) -> bool:
        """Other projects' daemons answer where this one's does not."""
        return super().answered or self.everywhere

    def told(self) -> None:
        """Outside of all projects there is nothing to see but theirs."""
        super().told()
        if self.hub.outside and not self.everywhere:
            self.action_everywhere()

    async def _others(self) -> list[tuple[Project, list[Session]]]:
        projects = await off_loop(self.hub.others)
        return await sessions(one for one in projects if one.root != self.hub.root)

    def action_everywhere(self) -> None:
        """The sessions of all projects, or of this one alone. No event tells of the others': they are asked again."""
        self.everywhere = not self.everywhere
        if self.everywhere:
            self._looks.resume()
        else:
            self._looks.pause()
        self.reload()

    def turned(self) -> None:
        """The app is at another project now."""
        self.sessions, self.elsewhere = [], []
        if self.everywhere:
            self.action_everywhere()

    @property
    def known(self) -> list[Session]:
        """Every session that may be in sight."""
        return [*self.sessions, *(one for _, found in self.elsewhere for one in found)]

    def draw(self) -> None:
        """Show the sessions as they are known."""
        rows = self.query_one(Rows)
        all_of_them = self.known
        waiting = sum(session.group == NEEDED for session in all_of_them)
        working = sum(session.group == WORKS for session in all_of_them)
        where, other = (
            ("all projects", "this one alone") if self.everywhere else (self.hub.project, "all projects")
        )
        key = f"  (A {other})" if not self.hub.outside else ""
        self.heading(
            f"{where}  {self.hub.zone}  {waiting} need{'s' if waiting == 1 else ''} you, {working} working{key}"
        )
        names: dict[str, str] = {}
        if self.everywhere:
            all_of_them.sort(key=lambda one: one.started_at or "~")  # who waits for a turn is last
            names = {one.session_id: self.hub.project for one in self.sessions}
            names |= {one.session_id: project.name for project, found in self.elsewhere for one in found}
        lines = list(rows_of(all_of_them, self.now, self.size.width, names))
        if not lines:
            next_step = (
                "n starts one, ? says what else there is"
                if self.hub.up
                else "hub run in a project starts one"
            )
            lines = [row("no session yet"), row((next_step, "dim"))]
        rows.show(lines)
        self.offer()

    def on_resize(self) -> None:
        """Titles take the room there is."""
        if self.sessions:
            self.draw()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Look at a session, and for that go to its project."""
        project = self._project_of(event.key)
        if project is None:
            self.hub.open_session(event.key)
        else:
            self.hub.visit(project, event.key)

    def on_rows_moved(self) -> None:
        """Other orders may be possible."""
        self.offer()

    @property
    def meant(self) -> str:
        """The session that the cursor is at."""
        return self.at

    @property
    def facts(self) -> OrderFacts | None:
        """What waits for a word is asked of every session of the project."""
        meant = next((one for one in self.known if one.session_id == self.meant), None)
        if meant is None:
            return None
        asked = any(one.needs == "approval" for one in self.sessions)
        return OrderFacts(meant.session_state, meant.paused, asked)

    def begun(self, session_id: str) -> None:
        """Enter opens it, as soon as it is there."""
        self.query_one(Rows).aim = session_id

    @property
    def foreign(self) -> str:
        """The name of another project, where the cursor is at one of its sessions."""
        project = self._project_of(self.meant)
        return project.name if project else ""

    def _project_of(self, session_id: str) -> Project | None:
        """Where that is another one than the app's."""
        places = (
            place for place, found in self.elsewhere if any(one.session_id == session_id for one in found)
        )
        return next(places, None)

    def standing_of(self, session_id: str) -> str:
        """What is known of its question: its task."""
        return next((one.title for one in self.sessions if one.session_id == session_id), "")
