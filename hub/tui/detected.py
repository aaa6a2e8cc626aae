"""The page of detected agents: AI coding agents on this machine, and going on with their work.

Owns: their lines, what is known of one, and the questions before an adoption.
Must not: decide what may be adopted, or end an agent without being told.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from hub.api.detect import Adopted, AdoptOrder, Detected
from hub.api.providers import ProviderStatus
from hub.domain.text.figures import counted, first_of, span
from hub.tui.dialogs import Choose, Confirm, Read
from hub.tui.page import Page, cut, label
from hub.tui.rows import Row, Rows, row

_PATIENCE = 130.0


class DetectedPage(Page):
    """Agents that run, and sessions that they left."""

    NAME = "detected"
    OF_ROW = frozenset({"adopt"})
    ON: ClassVar[frozenset[str]] = frozenset()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "adopt", "Adopt", tooltip="Go on with its work"),
        Binding("r", "reload", "Look again"),
    ]

    found: Sequence[Detected] = ()

    async def load(self) -> None:
        """A look at the machine; asked for, never by itself."""
        self.heading("Detected: looking ...")
        self.found = await self.hub.daemon.get(list[Detected], "/api/detect")
        running = sum(one.running for one in self.found)
        left = sum(not one.running and not one.alarm for one in self.found)
        self.heading(f"Detected  {running} running, {counted(left, 'session')} of the last 24 hours")
        self.query_one(Rows).show(rows_of(self.found, self.now, self.size.width))

    def _meant(self) -> Detected | None:
        return next((one for one in self.found if one.id == self.at), None)

    def on_rows_chosen(self, _: Rows.Chosen) -> None:
        """All that is known."""
        one = self._meant()
        if one is not None:
            self.app.push_screen(Read(one.display_name, list(details(one))))

    def action_adopt(self) -> None:
        """Go on with its work."""
        one = self._meant()
        if one is not None:
            self.attempt(self._adopt(one))

    async def _adopt(self, one: Detected) -> None:
        found = await self.hub.daemon.get(list[ProviderStatus], "/api/providers")
        usable = [(each.name, each.display_name) for each in found if each.status in ("standby", "active")]
        target = await self.app.push_screen_wait(Choose("Who goes on with it?", usable))
        if target is None:
            return
        ways = [("start", "Begin a session with its files"), ("brief", "Only write the brief")]
        way = await self.app.push_screen_wait(Choose("How?", ways))
        if way is None:
            return
        start = way == "start"
        stop = (
            one.running
            and start
            and await self.app.push_screen_wait(Confirm("It still runs. End it first?")) is True
        )
        order = AdoptOrder(id=one.id, target=target, start=start, stop=stop)
        done = await self.hub.daemon.post(Adopted, "/api/detect/adopt", order, patience=_PATIENCE)
        self.say(f"session {done.session_id}" if done.mode == "start" else f"brief: {done.brief}")


def rows_of(found: Sequence[Detected], now: float, width: int) -> Iterator[Row]:
    """Those that run first."""
    for one in sorted(found, key=lambda one: (not one.running, -one.last_active)):
        if one.alarm:
            yield row(
                (f"{cut(one.display_name, 18):<19}", "warn"),
                (f"sessions may be missing: {one.alarm}", "warn"),
            )
            continue
        state = f"runs, {one.pid}" if one.running else f"{span(now - one.last_active)} ago"
        task = one.session.initial_prompt
        own = " hub's" if one.owner == "hub" else ""
        yield row(
            (f"{cut(one.display_name, 16):<17}", "bold" if one.running else ""),
            (f"{state:<14}", "good" if one.running else "dim"),
            (f"{own:<6}", "info"),
            (f"{cut(_short(one.work_dir), 22):<23}", "dim"),
            cut(task, max(10, width - 64)),
            key=one.id,
        )
    if not found:
        yield row(("no agent runs, and none has left a session in that time", "dim"))
        yield row(("start one in any terminal, then r looks again; o goes on with its work here", "dim"))


def _short(path: str) -> str:
    return path if len(path) <= 22 else f"..{path[-20:]}"  # noqa: PLR2004  # the column's width


def details(one: Detected) -> Iterator[Row]:
    """All that is known of an agent."""
    known = [("id", one.id), ("folder", one.work_dir), ("account", one.account), ("surface", one.surface)]
    if (session := one.session).session_id:
        known += [
            ("model", session.model),
            ("tokens", f"{session.tokens_in:,} in, {session.tokens_out:,} out"),
            ("task", session.initial_prompt),
            *(("plan", step) for step in session.plan),
            *(("open", step) for step in session.tasks_remaining),
            ("files", ", ".join(session.files_touched)),
            *((turn.role, turn.text) for turn in session.recent_turns),
        ]
    if one.candidates:
        known.append(("may be", first_of(one.candidates)))
    for name, text in known:
        if text:
            yield row(*label(name, text))
