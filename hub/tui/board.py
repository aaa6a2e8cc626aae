"""The board: every session by what it needs.

Owns: the groups, their order, and the line of a session.
Must not: compute anything the daemon has not said.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hub.domain.standing import ENDED, GROUPS, NEEDED, QUEUED, WAITS, WORKS, group, words
from hub.tui.look import moment
from hub.tui.orders import OrdersPage
from hub.tui.page import cut
from hub.tui.rows import Piece, Row, Rows, row

if TYPE_CHECKING:
    from hub.api.sessions import Session

_LOOKS = {"completed": "good", "failed": "bad", "stopped": "warn"}
_SHOWN = 100
"""Sessions that have ended, at most."""


def group_of(session: Session) -> int:
    """Its place among the groups."""
    return group(
        needs=session.needs,
        state=session.session_state,
        position=session.position,
        wait_until=session.wait_until,
    )


def rows_of(sessions: list[Session], now: float, width: int) -> Iterator[Row]:
    """The groups that have any session, each under its heading, the newest first."""
    groups: list[list[Session]] = [[] for _ in GROUPS]
    for session in reversed(sessions):
        groups[group_of(session)].append(session)
    for name, members in zip(GROUPS, groups, strict=True):
        if not members:
            continue
        yield row((f"{name} ({len(members)})", "head"))
        for session in members[:_SHOWN]:
            yield _line(session, now, width)
            if session.last_action and session.session_state not in ENDED:
                yield row((f"    {cut(session.last_action, width - 8)}", "dim"))
        if len(members) > _SHOWN:
            yield row((f"  and {len(members) - _SHOWN} older ones: hub ls --all", "dim"))


def state_of(session: Session, now: float) -> Piece:
    """What it does, in a word or two."""
    place = group_of(session)
    if place == WAITS and session.wait_until:
        return f"until {moment(session.wait_until, now)}", "warn"
    told = words(
        needs=session.needs,
        state=session.session_state,
        position=session.position,
        verified=session.verified,
    )
    if place == NEEDED:
        return told, "mine"
    if session.session_state == "completed" and not session.verified:
        return told, "warn"
    return told, "dim" if place == QUEUED else _LOOKS.get(session.session_state, "info")


def agent_of(session: Session) -> str:
    """Who works, with the account where it has a name."""
    account = "" if session.account in ("", "default") else f"/{session.account}"
    return f"{session.active_provider}{account}"


def _line(session: Session, now: float, width: int) -> Row:
    told, look = state_of(session, now)
    since = session.ended_at or session.started_at
    when = moment(since, now) if since else ""
    moved = f"{session.handoffs_done}x" if session.handoffs_done else ""
    title = cut(session.title, max(18, width - 60))
    return row(
        (f" {told:<19}", look),
        f"{cut(agent_of(session), 16):<17}",
        (f"{moved:<4}", "warn"),
        (f"{when:<13}", "dim"),
        title,
        key=session.session_id,
    )


class BoardPage(OrdersPage):
    """The first page."""

    NAME = "board"

    def on_mount(self) -> None:
        """What is seen before the daemon has been asked."""
        super().on_mount()
        self.sessions: list[Session] = []
        self.heading(f"{self.hub.project}  looking for the daemon")
        # Of the page, not of the app: the app's own is given to the screen below and may never be called.
        self.call_after_refresh(self.hub.painted)

    async def load(self) -> None:
        """Every session."""
        from hub.api.sessions import Sessions  # noqa: PLC0415  # after the first paint

        found = await self.hub.daemon.get(Sessions, "/api/sessions")
        self.sessions = found.sessions
        self.draw()

    def draw(self) -> None:
        """Show the sessions as they are known."""
        rows = self.query_one(Rows)
        waiting = sum(group_of(session) == NEEDED for session in self.sessions)
        working = sum(group_of(session) == WORKS for session in self.sessions)
        self.heading(f"{self.hub.project}  {self.hub.zone}  {waiting} need you, {working} working")
        lines = list(rows_of(self.sessions, self.now, self.size.width))
        if not lines:
            lines = [row("no session yet"), row(("n starts one, ? says what else there is", "dim"))]
        rows.show(lines)

    def on_resize(self) -> None:
        """Titles take the room there is."""
        if self.sessions:
            self.draw()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Look at a session."""
        self.hub.open_session(event.key)

    @property
    def meant(self) -> str:
        """The session that the cursor is at."""
        return self.query_one(Rows).key

    def standing_of(self, session_id: str) -> str:
        """What is known of its question: its task."""
        return next((one.title for one in self.sessions if one.session_id == session_id), "")
