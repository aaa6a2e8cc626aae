"""The events' page: every event as it comes, with a filter.

Owns: the filter, and the lines that pass it.
Must not: keep events; the app has the newest ones.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from hub.domain.event import RecordJson
from hub.tui.dialogs import AskText, Read
from hub.tui.page import Page
from hub.tui.rows import Choices, Row, Rows, row
from hub.tui.words import line_of

_TAGS = ("", "text", "tool_use", "tool_result", "system", "quota", "handoff", "waiting", "error")
_MOST = 5000


class EventsPage(Page):
    """Every event."""

    NAME = "events"
    ON: ClassVar[frozenset[str]] = frozenset()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/", tooltip="Only events with these words"),
        Binding("t", "tag", "Tag", tooltip="Only events of the next tag"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.words = ""
        self.tag = ""
        self._lines: list[Row] = []

    def body(self) -> ComposeResult:
        """The events."""
        yield Choices(id="rows", sticky=True)

    async def load(self) -> None:
        """Nothing is asked: the app has them."""
        self._begin()

    def told(self) -> None:
        """Seen: with all that came meanwhile."""
        super().told()
        self._begin()

    def news(self, records: Sequence[RecordJson]) -> None:
        """More of them."""
        if self.is_current:
            self._lines += [line_of(one) for one in self.passing(records)]
            del self._lines[:-_MOST]
            self._draw()

    def passing(self, records: Iterable[RecordJson]) -> list[RecordJson]:
        """Those that the filter lets through."""
        words = self.words.lower()
        return [
            one
            for one in records
            if (not self.tag or one["tag"] == self.tag) and (not words or words in _searched(one))
        ]

    def _begin(self) -> None:
        self._lines = [line_of(one) for one in self.passing(self.hub.events)]
        self._draw()

    def _draw(self) -> None:
        only = "".join(
            [f"  only {self.tag}" if self.tag else "", f"  with {self.words!r}" if self.words else ""]
        )
        self.heading(f"Events  {len(self._lines):,} of the newest {len(self.hub.events):,}{only}")
        none = (
            "no event passes; / and t change the filter"
            if only
            else "no event yet; what hub and its agents do is listed here as it happens"
        )
        self.query_one(Rows).show(self._lines or [row((none, "dim"))])

    def action_filter(self) -> None:
        """Ask for the words; none at all shows everything."""
        self.run_worker(self._ask(), group="filter")

    async def _ask(self) -> None:
        found = await self.app.push_screen_wait(
            AskText(
                "Only events with these words", "In their text, agent or session.", self.words, needed=False
            )
        )
        if found is not None:
            self.words = found
            self._begin()

    def action_tag(self) -> None:
        """The next tag."""
        self.tag = _TAGS[(_TAGS.index(self.tag) + 1) % len(_TAGS)]
        self._begin()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """All there is of an event."""
        record = next((one for one in self.hub.events if str(one["id"]) == event.key), None)
        if record is not None:
            self.app.push_screen(Read(f"Event {event.key}", list(_whole(record))))


def _searched(record: RecordJson) -> str:
    meta = record.get("meta", {})
    return f"{record['msg']} {meta.get('provider', '')} {meta.get('sessionId', '')}".lower()


def _whole(record: RecordJson) -> Iterable[Row]:
    yield row((f"{record['tag']}  {record['ts']} UTC", "head"))
    yield row(record["msg"])
    yield row("")
    for name, value in record.get("meta", {}).items():
        yield row((f"{name}: ", "dim"), (value if isinstance(value, str) else repr(value), "dim"))
