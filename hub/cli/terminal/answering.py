"""Answering in place: what the keys do while a session is shown.

Owns: the meaning of each key, the line that is typed, and what is asked of the user just now.
Must not: draw, read keys, or decide anything the daemon decides.

An approval is answered by a key that was pressed after its whole text was shown, and stood there for a moment; what was
typed or pasted before counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import attrs
import trio

from hub.api.approvals import Approval, Resolution, Resolved
from hub.api.session import HandingOver, Pause, Paused, Replied, TextReply, Which
from hub.api.status import Status
from hub.cli.context import which
from hub.cli.terminal.clock import Clock
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.items import ToldItem
from hub.cli.terminal.keys import Key
from hub.client.quick import Api
from hub.domain.approval import Action
from hub.domain.text.change import change
from hub.domain.text.safe import clean
from hub.errors import HubError

HELP = (
    "y allow    n refuse    r reply",
    "a allow for this session",
    "p pause or resume    h hand over",
    "d detach, and leave it running",
    "v more or less detail    Ctrl-C stop",
    "? this list",
)
"""Lines that have room in the narrowest terminal: broken anywhere else, a key and its word come apart."""
_BACK = ("\x7f", "\x08")
_ENTER = ("\r", "\n")
_ESCAPE, _KILL, _WORD = "\x1b", "\x15", "\x17"

GRACE = 0.7
"""Seconds a request stands on the screen before a key is its answer: a second press is often meant for the one before."""

T = TypeVar("T")
Say = Callable[[ToldItem], None]


@attrs.define
class Answering:
    """The keys of one session.

    Args:
        conversation: What is known of it.
        api: The way to its daemon, asked for anew each time: the daemon may be another one by now.
        session_id: Which it is.
        say: Shows a sentence.
        unread: Throws away what was pressed and not read yet.
    """

    conversation: Conversation
    api: Callable[[], Api]
    session_id: str
    say: Say
    typing: bool = False
    typed: str = ""
    shown: str = ""
    """The approval whose text stands on the screen; "" = none."""
    detached: trio.Event = attrs.field(factory=trio.Event)
    unread: Callable[[], None] = lambda: None
    _since: float = 0.0
    """From when on the shown one has been there to be read, with nobody's answer under way."""
    _left: bool = False
    """Whether the user left the line of this question, for the keys."""
    _offered: bool = False
    """Whether the line was opened for a question, not by the user."""

    @property
    def prompt(self) -> tuple[str, str]:
        """What is asked, and what was typed so far; two empty texts where nothing is."""
        if self.typing:
            return "reply (Enter sends, Esc: other keys): ", self.typed
        if self.shown:
            return "allow it?  y yes   n no   a always in this session", ""
        return ("r reply", "") if self._asked else ("", "")

    @property
    def _asked(self) -> bool:
        """Whether the agent has a question."""
        return any(not ask.approval for ask in self.conversation.asks)

    async def news(self) -> None:
        """Show the next request for the user's word whole; begin a reply where the agent has a question."""
        waiting = [ask.approval for ask in self.conversation.asks if ask.approval]
        if self.shown and self.shown not in waiting:
            self.shown = ""
        if not self.shown and waiting:
            await self._show(waiting[0])
        if not self._asked:
            # A line that the user opened is the user's to close: else the next letter would hand over, or detach.
            self._left, self.typing = False, self.typing and (bool(self.typed) or not self._offered)
        elif not self._left and not self.shown and not self.typing:
            # Whoever answers a question types: no letter of it may be taken for a key that pauses or hands over.
            self.typing = self._offered = True

    async def _show(self, number: str) -> None:
        found = await self._ask(lambda api: api.read(list[Approval], "/api/approvals"))
        request = next((one for one in found or () if one.id == number), None)
        if request is None:
            return
        for line in picture(request):
            self.say(line)
        if not self.typing:
            self.unread()
        self.shown, self._since = number, trio.current_time()

    async def keys(self, pressed: list[Key]) -> None:
        """What was read at once; of several keys only the first can be an answer."""
        for key in pressed:
            if self.typing:
                await self._type(key)
            elif not key.pasted:
                await self._press(key.text, alone=len(pressed) == 1)

    async def _press(self, key: str, *, alone: bool) -> None:
        if key in "yna":
            if self.shown and alone and trio.current_time() - self._since >= GRACE:
                await self._resolve(approved=key != "n", always=key == "a")
            return
        match key:
            case "r":
                self.typing, self._offered = True, False
            case "p":
                await self._pause()
            case "h":
                if await self._order(HandingOver, "/api/handoff", Which(session_id=self.session_id)):
                    self.say(ToldItem("handing over ...", "dim"))
            case "d":
                self.detached.set()
            case "v":
                self.conversation.verbose = not self.conversation.verbose
                words = "showing every detail" if self.conversation.verbose else "showing less detail"
                self.say(ToldItem(words, "dim"))
            case "?":
                self.say(ToldItem("keys", "dim", HELP))

    async def _type(self, key: Key) -> None:
        if key.pasted:
            self.typed += clean(key.text)
        elif key.text in _ENTER:
            text, self.typed, self.typing = self.typed.strip(), "", False
            reply = TextReply(reply=text, session_id=self.session_id)
            if text and await self._order(Replied, "/api/session/reply", reply) is None:
                self.typed, self.typing = text, True  # refused: Enter tries it again
            elif text:
                self.conversation.asks = [ask for ask in self.conversation.asks if ask.approval]
        elif key.text == _ESCAPE:
            self.typed, self.typing, self._left = "", False, True
        elif key.text in _BACK:
            self.typed = self.typed[:-1]
        elif key.text == _KILL:
            self.typed = ""
        elif key.text == _WORD:
            self.typed = self.typed.rstrip().rpartition(" ")[0]
        elif key.text.isprintable():
            self.typed += key.text

    async def _resolve(self, *, approved: bool, always: bool = False) -> None:
        number, self.shown = self.shown, ""
        said = Resolution(id=number, approved=approved, always=always)
        await self._order(Resolved, "/api/approvals/{id}", said)
        self._since = trio.current_time()  # what was pressed meanwhile is read now

    async def _pause(self) -> None:
        status = await self._ask(lambda api: api.read(Status, "/api/status", which(self.session_id)))
        if status is not None:
            pause = Pause(pause=not status.paused, session_id=self.session_id)
            await self._order(Paused, "/api/session/pause", pause)

    async def _order(self, kind: type[T], path: str, body: object) -> T | None:
        return await self._ask(lambda api: api.order(kind, path, body))

    async def _ask(self, question: Callable[[Api], T]) -> T | None:
        """The daemon's answer; None where it refuses, which is said."""
        try:
            return await trio.to_thread.run_sync(lambda: question(self.api()), abandon_on_cancel=True)
        except HubError as error:
            self.say(
                ToldItem(clean(error.detail), "bad", (f"next: {clean(error.hint)}",) if error.hint else ())
            )
            return None


def picture(request: Approval) -> Iterator[ToldItem]:
    """The whole of what is to be allowed: the command, or the change line by line."""
    context = request.context
    given = context.get("input")
    action, command = clean(request.action), clean(context.get("command") or "")
    members = given.items() if isinstance(given, dict) else ()
    values = {name: clean(text) for name, text in members if isinstance(text, str)}
    who = f"{request.who} wants to: " if request.kind is Action.TOOL else ""
    grave = "danger! " if request.severity == "danger" else ""
    reason = clean(request.why)
    # Each thing once: agents give a command as the action, as the command and among what the tool is given.
    below = command.splitlines() if command not in action else []
    if reason and reason.removeprefix(f"{request.tool} ") not in values.values():
        below.insert(0, reason)
    told = {f"{name}: {text}" for name, text in values.items() if text and text in (command, *below)}
    below += [line for line in change(given) if line not in told]
    below += [clean(str(path)) for path in context.get("paths") or ()]
    yield ToldItem(f"{grave}{who}{action}", "bad" if grave else "warn", tuple(below))
    if request.cut:
        yield ToldItem(request.cut, "bad")
    if request.expires_at:
        yield ToldItem(request.lapse(Clock().at))
