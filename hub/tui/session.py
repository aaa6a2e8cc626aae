"""One session: its stream with the tool calls folded, and how it stands.

Owns: the views of a session and the line of its state.
Must not: give orders (`orders` does), or keep more of the log than is shown.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.widgets import ContentSwitcher, Static

from hub.api.history import Diff, HistoryEntry, Walk, walks
from hub.api.session import Cost
from hub.api.status import Status
from hub.domain.event import RecordJson
from hub.domain.result.fate import TAKES, fate
from hub.domain.standing import ENDED, HANDING_OVER, words
from hub.domain.text.figures import agent_name, counted
from hub.domain.wallclock import moment
from hub.errors import HubError
from hub.tui.cost import cost_rows
from hub.tui.diffs import rows_of as diff_rows
from hub.tui.orders import OrderFacts, OrdersPage
from hub.tui.page import Bar, cut
from hub.tui.ribbon import rows_of as handoff_rows
from hub.tui.rows import Rows, plain
from hub.tui.words import Story, for_people

VIEWS = (
    ("s", "stream", "Stream"),
    ("d", "diff", "Diff"),
    ("w", "handoffs", "Handoffs"),
    ("c", "cost", "Cost"),
)
"""Key, name and heading of each."""
_HINTS = {"stream": "   enter unfolds, f all", "diff": "   J, K next file"}
"""What more can be done in a view."""
_PAST = 3000
"""Events of the session's past, or of its beginning, that are asked for."""


class SessionPage(OrdersPage):
    """A session, followed live."""

    NAME = "board"
    DEFAULT_CSS = """
    SessionPage > #state { height: auto; max-height: 4; padding: 0 1; }
    SessionPage ContentSwitcher { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="To the board"),
        Binding("s", "view('stream')", "Stream", show=False, tooltip="What happened, tool calls folded"),
        Binding("d", "view('diff')", "Diff", show=False, tooltip="What it has changed"),
        Binding(
            "w",
            "view('handoffs')",
            "Handoffs",
            show=False,
            tooltip="Who gave it to whom, why, and how much came over",
        ),
        Binding("c", "view('cost')", "Cost", show=False, tooltip="What it has cost"),
        Binding("enter", "fold", "Unfold", show=False, tooltip="Unfold a tool call, or fold it"),
        Binding("f", "fold_all", "Unfold all", show=False, tooltip="Unfold every tool call, or fold them"),
    ]
    ON = frozenset({"system", "handoff", "waiting", "error"})

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id
        self.story = Story()
        self.status: Status | None = None
        self._last = 0
        """The newest event of the log that the story has; 0 = its past was not asked for yet."""
        self.walks: list[Walk] | None = None
        self.diff: Diff | None = None
        self.asked = ""
        """The agent's newest question."""
        self.fate = ""
        """What has become of its work; "" while it goes on."""
        self._early: list[RecordJson] = []
        """What came while the past was on its way."""

    def body(self) -> ComposeResult:
        """The state, and the stream."""
        yield Static(id="state", markup=False)
        yield Bar(VIEWS, "stream", self.action_view)
        with ContentSwitcher(initial="stream"):
            yield Rows(id="stream", sticky=True)
            for _, name, _ in VIEWS[1:]:
                yield Rows(id=name)

    def on_mount(self) -> None:
        """The stream has the keys."""
        super().on_mount()
        self.heading(self.session_id)
        self.action_view("stream")

    @property
    def stream(self) -> Rows:
        """The list of what happened."""
        return self.query_one("#stream", Rows)

    async def load(self) -> None:
        """How it stands; and at first, what has been."""
        if not self._last:
            await self._load_past()
        self.status = await self.hub.daemon.get(Status, "/api/status", {"sessionId": self.session_id})
        self.offer()
        self.fate = await self._fate() if self.over else ""
        self.draw_state()
        if self.view == "handoffs":
            await self._load_handoffs()
        elif self.view == "diff":
            await self._load_diff()
        elif self.view == "cost":
            await self._load_cost()

    async def _fate(self) -> str:
        """What has become of the work of a session that is over; "" where the log cannot be read, as is told elsewhere."""
        try:
            became = fate(await self._newest("discarded"), await self._newest("taken"))
        except HubError:
            return ""
        if became is None:
            return "not taken yet"
        if became.event == "discarded":
            return f"discarded {moment(became.ts, self.now)}"
        return f"taken as {became.commit[:12]} on {became.held_by or became.branch}"

    async def _newest(self, event: str) -> list[HistoryEntry]:
        query: dict[str, str | int] = {"sessionId": self.session_id, "event": event, "limit": TAKES}
        return await self.hub.daemon.get(list[HistoryEntry], "/api/history", query)

    async def _load_diff(self) -> None:
        found = await self.hub.daemon.get(Diff, "/api/session/diff", {"sessionId": self.session_id})
        self.diff = found
        self.draw()

    async def _load_cost(self) -> None:
        found = await self.hub.daemon.get(Cost, "/api/session/cost", {"sessionId": self.session_id})
        self.query_one("#cost", Rows).show(cost_rows(found))

    async def _load_handoffs(self) -> None:
        get, which = self.hub.daemon.get, {"sessionId": self.session_id}
        self.walks = walks(await get(list[HistoryEntry], "/api/history", {**which, "event": "handoff"}))
        self.draw()

    async def _load_past(self) -> None:
        query: dict[str, str | int] = {"sessionId": self.session_id, "limit": _PAST, "newest": 1}
        past = await self.hub.daemon.get(list[RecordJson], "/api/events", query)
        self.story.cut = len(past) == _PAST
        self._tell(past)
        self._last = max(past[-1]["id"] if past else 0, 1)
        self._take_in(self._early)
        self._early = []
        self.draw()

    def news(self, records: Sequence[RecordJson]) -> None:
        """What it did next; that of others only says that its state may have changed."""
        own = [one for one in records if one.get("meta", {}).get("sessionId") == self.session_id]
        if own and not self._last:
            self._early += own
        elif own:
            self._take_in(own)
            self.draw()
        super().news(own)

    def _take_in(self, records: Sequence[RecordJson]) -> None:
        fresh = [record for record in records if record["id"] > self._last]
        if fresh:
            self._last = fresh[-1]["id"]
            self._tell(fresh)

    def _tell(self, records: Sequence[RecordJson]) -> None:
        self.story.take(records)
        asked = [one["msg"] for one in records if one.get("meta", {}).get("needsInput")]
        self.asked = asked[-1] if asked else self.asked

    @property
    def meant(self) -> str:
        """This one."""
        return self.session_id

    def standing_of(self, session_id: str) -> str:  # noqa: ARG002  # there is only one
        """The agent's newest question."""
        return self.asked

    @property
    def over(self) -> bool:
        """Whether it has ended, as far as is known."""
        return self.status is not None and self.status.session_state in ENDED

    @property
    def facts(self) -> OrderFacts | None:
        """As the daemon has told them last."""
        state = self.status
        if state is None:
            return None
        return OrderFacts(state.session_state, state.paused, state.needs_approval)

    @property
    def view(self) -> str:
        """Which view is seen."""
        return self.query_one(ContentSwitcher).current or "stream"

    def action_view(self, name: str) -> None:
        """Another view of the same session."""
        self.query_one(ContentSwitcher).current = name
        self.query_one(f"#{name}", Rows).focus()
        views = self.query(Bar).last()
        views.current, views.hint = name, _HINTS.get(name, "")
        views.refresh()
        self.draw()
        self.reload()

    def draw(self) -> None:
        """The stream as it is."""
        if not self.is_current:
            return
        if self.view == "stream":
            self.stream.show(self.story.rows(self.size.width - 2, self.look))
        elif self.view == "handoffs" and self.walks is not None:
            left_out = self.status.left_out if self.status else []
            rows = handoff_rows(self.walks, left_out, self.size.width - 2, self.look)
            self.query_one("#handoffs", Rows).show(rows)
        elif self.view == "diff" and self.diff is not None:
            told, width = self.diff, self.size.width - 5
            rows = diff_rows(told.summary, told.diff, truncated=told.truncated, width=width)
            self.query_one("#diff", Rows).show(rows)

    def draw_state(self) -> None:
        """The lines above it."""
        state = self.status
        if state is None:
            return
        who = agent_name(state.active_provider, state.account)
        self.heading(f"{cut(state.task_goal, self.size.width - 4)}")
        told = [f"{_state_words(state)}  {who}"]
        if state.tokens_used:
            told.append(f"{state.tokens_used:,} tokens")
        if state.handoffs_done:
            score = "pending" if state.hfs_pending else f"{state.hfs_score:g} of 100"
            told.append(f"{counted(state.handoffs_done, 'handoff')}, fidelity {score}")
        if state.wait_until:
            told.append(f"waits until {moment(state.wait_until, self.now)}: {for_people(state.wait_reason)}")
        elif state.wait_reason:
            told.append(f"waits: {for_people(state.wait_reason)}")
        if self.fate:
            told.append(self.fate)
        lines = ["  ".join(told)]
        if state.needs_approval:
            lines.append("It waits for your word: a shows what it asks for.")
        elif state.needs_input:
            lines.append("The agent asks you: e answers it.")
        if state.error:
            lines.append(f"{for_people(state.error.detail.partition(chr(10))[0])}  next: {state.error.hint}")
        self.query_one("#state", Static).update("\n".join(plain(line) for line in lines))

    def on_screen_resume(self) -> None:
        """What came while another page was seen."""
        super().on_screen_resume()
        if self._last:
            self.draw()

    def on_resize(self, _: Resize) -> None:
        """The lines are as wide as there is room."""
        if self._last:
            self.draw()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Unfold what is folded."""
        if event.rows is self.stream and self.story.fold(event.key):
            self.stream.at_end = False
            self.draw()

    def action_fold(self) -> None:
        """What the key below says."""
        self.stream.action_choose()

    def action_fold_all(self) -> None:
        """Unfold every tool call, or fold them all."""
        self.story.fold_all()
        self.draw()

    def action_leave(self) -> None:
        """Back to the board."""
        self.hub.pop_screen()


def _state_words(state: Status) -> str:
    if state.fsm_state in HANDING_OVER:
        return f"handing over: {HANDING_OVER[state.fsm_state]}"
    if state.stopping:
        return "stopping"
    if state.paused:
        return "paused"
    return words(needs=state.needs, state=state.session_state, verified=state.verified)
