"""One session: its stream with the tool calls folded, and how it stands.

Owns: the views of a session and the line of its state.
Must not: give orders (`orders` does), or keep more of the log than is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.widgets import ContentSwitcher, Static

from hub.tui.look import moment
from hub.tui.page import JsonObject, Page, cut
from hub.tui.rows import Rows, plain
from hub.tui.words import Story

if TYPE_CHECKING:
    from hub.api.status import Status

_PAST = 3000
"""Events of the session's past that are asked for."""


class SessionPage(Page):
    """A session, followed live."""

    NAME = "board"
    DEFAULT_CSS = """
    SessionPage > #state { height: auto; max-height: 4; padding: 0 1; }
    SessionPage ContentSwitcher { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("enter", "fold", "Unfold"),
        Binding("f", "fold_all", "Fold all", show=False),
    ]
    ON = frozenset({"system", "handoff", "waiting", "error"})

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id
        self.story = Story()
        self.status: Status | None = None
        self._last = 0
        """The newest event of the log that the story has; 0 = its past was not asked for yet."""
        self._early: list[JsonObject] = []
        """What came while the past was on its way."""

    def body(self) -> ComposeResult:
        """The state, and the stream."""
        yield Static(id="state", markup=False)
        with ContentSwitcher(initial="stream"):
            yield Rows(id="stream", sticky=True)

    def on_mount(self) -> None:
        """The stream has the keys."""
        super().on_mount()
        self.stream.focus()
        self.heading(self.session_id)

    @property
    def stream(self) -> Rows:
        """The list of what happened."""
        return self.query_one("#stream", Rows)

    async def load(self) -> None:
        """How it stands; and at first, what has been."""
        from hub.api.status import Status  # noqa: PLC0415  # after the first paint

        if not self._last:
            await self._load_past()
        self.status = await self.hub.daemon.get(Status, "/api/status", {"sessionId": self.session_id})
        self.draw_state()

    async def _load_past(self) -> None:
        query: dict[str, str | int] = {"sessionId": self.session_id, "limit": _PAST, "newest": 1}
        past = await self.hub.daemon.get(list[JsonObject], "/api/events", query)
        self.story.take(past)
        self._last = max(past[-1]["id"] if past else 0, 1)
        self._take(self._early)
        self._early = []
        self.draw()

    def news(self, records: Sequence[JsonObject]) -> None:
        """What it did next; that of others only says that its state may have changed."""
        own = [one for one in records if one.get("meta", {}).get("sessionId") == self.session_id]
        if own and not self._last:
            self._early += own
        elif own:
            self._take(own)
            self.draw()
        super().news(own)

    def _take(self, records: Sequence[JsonObject]) -> None:
        fresh = [record for record in records if record["id"] > self._last]
        if fresh:
            self._last = fresh[-1]["id"]
            self.story.take(fresh)

    def draw(self) -> None:
        """The stream as it is."""
        if self.is_current:
            self.stream.show(self.story.rows(self.size.width - 2, self.look))

    def draw_state(self) -> None:
        """The lines above it."""
        state = self.status
        if state is None:
            return
        account = "" if state.account in ("", "default") else f"/{state.account}"
        who = f"{state.active_provider}{account}"
        self.heading(f"{cut(state.task_goal, self.size.width - 4)}")
        words = [f"{_state_words(state)}  {who}  {state.tokens_used:,} tokens"]
        if state.handoffs_done:
            score = "pending" if state.hfs_pending else f"{state.hfs_score:g}"
            words.append(f"{state.handoffs_done} handoffs, hfs {score}")
        if state.wait_until:
            words.append(f"waits until {moment(state.wait_until, self.now)}: {state.wait_reason}")
        lines = ["  ".join(words)]
        if state.needs_approval:
            lines.append("It waits for your word: a shows what it asks for.")
        elif state.needs_input:
            lines.append("The agent asks you: e answers it.")
        if state.error:
            lines.append(f"{state.error.detail.partition(chr(10))[0]}  next: {state.error.hint}")
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
    if state.fsm_state != "RUNNING":
        return f"handing over: {state.fsm_state}"
    if state.stopping:
        return "stopping"
    if state.paused:
        return "paused"
    if state.session_state == "completed":
        return "done" if state.verified else "done, not verified"
    return str(state.session_state).replace("_", " ")
