"""The time machine: the snapshots, what each changed, a branch at one; and the audit timeline.

Owns: the two lists, the preview, and the question before a rewind.
Must not: move anything but by asking the daemon for a new branch.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from hub.api.history import Commit, CommitDiff, HistoryEntry, Rewind, Rewound
from hub.api.sessions import Sessions
from hub.domain.standing import occasion
from hub.domain.wallclock import moment
from hub.tui.dialogs import Confirm, Read
from hub.tui.diffs import rows_of as diff_rows
from hub.tui.page import Page, cut
from hub.tui.rows import Row, Rows, row
from hub.tui.words import for_people

_NEWEST = 500
_SHORT = 12
"""Letters of a commit's name."""
_EVENTS = {
    "handoff": "warn",
    "verify": "info",
    "rewind": "mine",
    "session_ended": "good",
    "agent_event": "dim",
}


class HistoryPage(Page):
    """Snapshots, and what was recorded."""

    NAME = "history"
    OF_ROW = frozenset({"rewind"})
    ON = frozenset({"system", "handoff"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "rewind", "Branch here", tooltip="Make a branch at this snapshot; nothing else moves"),
        Binding("t", "other", "Timeline", tooltip="The audit timeline, or the snapshots again"),
    ]

    timeline = False
    """Whether that is seen, and not the snapshots."""

    async def load(self) -> None:
        """One of the two lists."""
        rows = self.query_one(Rows)
        if self.timeline:
            found = await self.hub.daemon.get(list[HistoryEntry], "/api/history", {"limit": _NEWEST})
            self.heading("Timeline, the newest first; t shows the snapshots")
            rows.show(timeline_rows(found, self.now))
        else:
            commits = await self.hub.daemon.get(list[Commit], "/api/history/commits")
            self.heading("Snapshots, the newest first; t shows the timeline")
            listed = await self.hub.daemon.get(Sessions, "/api/sessions")
            titles = {one.session_id: one.title for one in listed.sessions}
            rows.show(commit_rows(commits, titles, self.now))

    def action_other(self) -> None:
        """The other list."""
        self.timeline = not self.timeline
        self.reload()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """What the snapshot changed."""
        self.attempt(self._preview(event.key))

    def action_rewind(self) -> None:
        """Ask, with what is there, then make the branch."""
        self.order(self._rewind(self.at))

    async def _diff(self, sha: str) -> CommitDiff:
        return await self.hub.daemon.get(CommitDiff, "/api/history/diff", {"sha": sha})

    async def _preview(self, sha: str) -> None:
        found = await self._diff(sha)
        lines = list(diff_rows(found.summary, found.diff, truncated=found.truncated))
        self.app.push_screen(Read(f"Snapshot {sha[:_SHORT]}", lines))

    async def _rewind(self, sha: str) -> None:
        found = await self._diff(sha)
        about = f"A new branch at {sha[:_SHORT]}; nothing else moves. The snapshot changed:\n{found.summary}"
        if await self.app.push_screen_wait(Confirm("Make a branch here?", about)):
            made = await self.hub.daemon.post(Rewound, "/api/history/rewind", Rewind(sha=sha))
            self.say(f"{made.branch}: look at it with git switch {made.branch}")


def commit_rows(found: list[Commit], titles: Mapping[str, str], now: float) -> Iterator[Row]:
    """A line for each snapshot, under its session."""
    session = ""
    for one in found:
        if one.session_id != session:
            session = one.session_id
            yield row((titles.get(session) or session, "head"))
        yield row(
            (f" {moment(one.when, now):<13}", "dim"),
            (f"{one.short[:10]:<11}", "info"),
            occasion(one.handoff_id) if one.handoff_id else one.subject,
            key=one.sha,
        )
    if not found:
        yield row(("no snapshot yet; every handoff and every end of a session makes one", "dim"))


def timeline_rows(found: list[HistoryEntry], now: float) -> Iterator[Row]:
    """What is on record, the newest first, each whole: there is no more to open."""
    for one in reversed(found):
        yield row(
            (f"{moment(one.ts, now):<13}", "dim"),
            (f"{one.event:<18} ", _EVENTS.get(one.event, "")),
            (f"{one.provider[:12]:<13}", "dim"),
            one.summary[:_SHORT] if one.event == "snapshot" else cut(for_people(one.summary), 400),
        )
    if not found:
        yield row(("nothing yet", "dim"))
