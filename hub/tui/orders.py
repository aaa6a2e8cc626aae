"""Orders from the keyboard: what can be done to a session, and the questions that come before.

Owns: each order's key, its words in the palette, which of them a session can be given, and what is asked first.
Must not: refuse what the daemon would take: what is known here may be old.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

from typing import ClassVar

import attrs
from textual.binding import Binding, BindingType

from hub.domain.standing import ENDED
from hub.domain.text.figures import counted
from hub.tui.dialogs import AskText, Choose, Confirm
from hub.tui.page import Page

STOP_PATIENCE = 310.0
START_PATIENCE = 130.0

ORDERS: tuple[tuple[str, str, str, str], ...] = (
    ("a", "approve", "Allow", "See what waits for your word, and give it"),
    ("e", "reply", "Reply", "Answer the agent"),
    ("p", "pause", "Pause", "Hold the agent at the next event"),
    ("p", "resume", "Resume", "Let the paused agent go on"),
    ("h", "handoff", "Handoff", "Hand the work to the next agent now"),
    ("x", "stop", "Stop", "End the session in order, snapshot included"),
    ("n", "run", "New", "Start a session"),
    ("t", "take", "Take", "Bring the result to your branch as one commit"),
    ("D", "discard", "Discard", "Delete a session's worktree and branch"),
)
"""Key, action, word and sentence of each."""
_RARE = frozenset({"discard"})
"""Not among the keys below: `?` and the palette have them."""


@attrs.frozen
class OrderFacts:
    """What of a session decides which orders it can be given."""

    state: str
    paused: bool
    needs_approval: bool

    @property
    def _held(self) -> bool:
        """An older daemon has no `paused` in its rows."""
        return self.paused or self.state == "paused"

    def takes(self, order: str) -> bool:
        """Whether it can be told that."""
        match order:
            case "approve":
                return self.needs_approval
            case "pause":
                return self.state not in ENDED and not self._held
            case "resume":
                return self.state not in ENDED and self._held
            case "take" | "discard":
                return self.state in ENDED
            case _:
                return self.state not in ENDED


class OrdersPage(Page):
    """A page on which one session is meant."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"order('{name}')", word, show=name not in _RARE) for key, name, word, _ in ORDERS
    ]
    _offered: frozenset[str] = frozenset(name for _, name, _, _ in ORDERS)
    """The orders among the keys below."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a daemon there is nobody to give an order to, and nothing can be told to an agent that is gone."""
        if action == "order" and (self.hub.alone or not self.possible(str(parameters[0]))):
            return False
        return super().check_action(action, parameters)

    @property
    def meant(self) -> str:
        """The session that orders go to; "" = there is none."""
        return ""

    @property
    def facts(self) -> OrderFacts | None:
        """Of the session that is meant, as far as they are known."""
        return None

    def possible(self, order: str) -> bool:
        """Whether the session that is meant can be told that, as far as is known; one can always be started."""
        if order == "run":
            return True
        return bool(self.meant) and (self.facts is None or self.facts.takes(order))

    def offer(self) -> None:
        """What is known of the session that is meant may be something else now: its orders are those below."""
        offered = frozenset(name for _, name, _, _ in ORDERS if self.possible(name))
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def standing_of(self, session_id: str) -> str:  # noqa: ARG002  # for those who know
        """What a session asks, as far as it is known."""
        return ""

    def begun(self, session_id: str) -> None:
        """A session was started from here."""

    @property
    def foreign(self) -> str:
        """The name of another project, where the session that is meant is of one; its daemon gets no order from here."""
        return ""

    def action_order(self, name: str) -> None:
        """Give one of `ORDERS`, which is possible now."""
        if self.foreign and name != "run":
            self.say(f"That is a session of {self.foreign}: enter goes there.", bad=True)
            return
        work = {
            "approve": self._approve,
            "reply": self._reply,
            "pause": lambda session: self._hold(session, on=True),
            "resume": lambda session: self._hold(session, on=False),
            "handoff": self._handoff,
            "stop": self._stop,
            "run": self._run,
            "take": self._take,
            "discard": self._discard,
        }[name]
        self.order(work(self.meant))

    async def _approve(self, session_id: str) -> None:
        from hub.api.approvals import Approval, Resolution, Resolved
        from hub.tui.approval import ApprovalBox

        waiting = await self.hub.daemon.get(list[Approval], "/api/approvals")
        if not waiting:
            self.say("Nothing waits for your word.")
            return
        answer = await self.app.push_screen_wait(ApprovalBox(waiting, session_id))
        if answer is None:
            return
        number, allowed, always, note = answer
        said = Resolution(id=number, approved=allowed, note=note, always=always)
        await self.hub.daemon.post(Resolved, "/api/approvals/{id}", said)
        self.say(
            ("Allowed, and the very same again until the session ends." if always else "Allowed.")
            if allowed
            else "Denied."
        )

    async def _reply(self, session_id: str) -> None:
        from hub.api.session import Replied, TextReply

        asked = self.standing_of(session_id)
        text = await self.app.push_screen_wait(AskText("Your answer to the agent", asked))
        if text:
            reply = TextReply(reply=text, session_id=session_id)
            await self.hub.daemon.post(Replied, "/api/session/reply", reply)
            self.say("Sent.")

    async def _hold(self, session_id: str, *, on: bool) -> None:
        from hub.api.session import Pause, Paused

        pause = Pause(pause=on, session_id=session_id)
        await self.hub.daemon.post(Paused, "/api/session/pause", pause)
        self.say("The agent stands still; p lets it go on." if on else "The agent goes on.")

    async def _handoff(self, session_id: str) -> None:
        from hub.api.session import HandingOver, Which

        if await self.app.push_screen_wait(Confirm("Hand the work to the next agent now?", session_id)):
            await self.hub.daemon.post(HandingOver, "/api/handoff", Which(session_id=session_id))
            self.say("Handing over.")

    async def _stop(self, session_id: str) -> None:
        from hub.api.session import Stopped, Which

        about = f"{session_id}\nThe agent is stopped in order, and every byte is on its branch."
        if await self.app.push_screen_wait(Confirm("End this session?", about)):
            self.say("Stopping in order, with a snapshot.")
            meant = Which(session_id=session_id)
            await self.hub.daemon.post(Stopped, "/api/session/stop", meant, patience=STOP_PATIENCE)
            self.say("Stopped.")

    async def _take(self, session_id: str) -> None:
        from hub.api.history import Diff
        from hub.api.results import Take, Taken
        from hub.domain.result.fate import left_behind

        found = await self.hub.daemon.get(Diff, "/api/session/diff", {"sessionId": session_id})
        about = f"One commit of yours, on the branch that your checkout is on:\n{found.summary}"
        if await self.app.push_screen_wait(Confirm("Take the result?", about)):
            take = Take(session_id=session_id)
            taken = await self.hub.daemon.post(Taken, "/api/session/take", take, patience=START_PATIENCE)
            unsure = "; not verified: its acceptance commands failed" if taken.verified is False else ""
            more = f"; {left_behind(taken.session_id)}" if taken.worktree_has_more else ""
            done = f"Taken: {counted(taken.files, 'file')} in {taken.commit[:12]} on {taken.branch}"
            self.say(f"{done}{unsure}{more}")

    async def _discard(self, session_id: str) -> None:
        from hub.api.results import Discard, Discarded

        about = f"{session_id}\nIts worktree and branch go; its snapshots stay. A result that was not taken is refused."
        if await self.app.push_screen_wait(Confirm("Discard this session's files?", about)):
            order = Discard(session_id=session_id)
            gone = await self.hub.daemon.post(
                Discarded, "/api/session/discard", order, patience=START_PATIENCE
            )
            self.say(f"Gone: {gone.branch}")

    async def _run(self, _: str) -> None:
        from hub.api.providers import ProviderStatus
        from hub.api.session import Run, Started

        task = await self.app.push_screen_wait(
            AskText("What is to be done?", "A session of its own, on a branch of its own.")
        )
        if not task:
            return
        about = "A command that must exit with 0, such as make test.\nEmpty: as hub.toml says."
        verify = await self.app.push_screen_wait(AskText("How is it known to be done?", about, needed=False))
        if verify is None:
            return
        found = await self.hub.daemon.get(list[ProviderStatus], "/api/providers")
        usable = [one for one in found if one.status in ("standby", "active")]
        provider = ""
        if len(usable) > 1:
            chain = ("", "the first of the chain")
            choices = [("-", chain[1]), *((one.name, f"{one.display_name}  {one.model}") for one in usable)]
            chosen = await self.app.push_screen_wait(Choose("Who starts?", choices))
            if chosen is None:
                return
            if chosen != "-":
                provider = chosen
        order = Run(task=task, queue=True, provider=provider, verify=[verify] if verify else None)
        started = await self.hub.daemon.post(Started, "/api/run", order, patience=START_PATIENCE)
        place = f", waits for its turn as number {started.position}" if started.position else ""
        self.say(f"Started on the branch {started.branch}{place}")
        self.begun(started.session_id)
