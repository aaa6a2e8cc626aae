"""One conversation of an editor: prompts in, and what the agents do of them out, whoever does it.

Owns: which sessions a conversation is made of, what a prompt means to the newest of them, and when its turn is over.
Must not: know a method of the protocol, or keep anything that the daemon could not tell again.

A conversation has the id of its first session, which is chosen here and given to the daemon with the first prompt: so an
order may be repeated, and a conversation is found again without a record of its own. What follows a session that has ended
is another one that goes on with its work: `<id>-2`, `<id>-3`...
"""

from __future__ import annotations

import math
import re
from pathlib import PurePath

import attrs
import trio

from hub.acp.asking import Asking
from hub.acp.changes import changes_of
from hub.acp.choices import SessionChoices
from hub.acp.connection import EditorConnection
from hub.acp.daemon import END, ProjectDaemon, Records
from hub.acp.prompts import text_of
from hub.acp.telling import USER, Teller, Update, content
from hub.api.approvals import Approval
from hub.api.history import Diff
from hub.api.session import Cost, Pause, Paused, Replied, Run, Started, Stopped, TextReply, Which
from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.domain.event import RecordJson
from hub.domain.jsonvalue import JsonObject
from hub.domain.meta import EventMeta
from hub.errors import Code, HubError
from hub.wire.frames import INVALID_REQUEST, RefusedError

_GONE = frozenset({Code.NOT_FOUND, Code.NO_ACTIVE_SESSION})
_NOTHING = frozenset({Code.NOT_FOUND, Code.INVALID})
_BREATH = 0.3
"""Seconds between two tries to be heard while the work is handed on, or a session ends."""
_TURN = "end_turn"
_CANCELLED = "cancelled"


def first_of(session_id: str) -> str:
    """The session that another one goes on with, by its id; "" = it goes on with none."""
    first, _, number = session_id.rpartition("-")
    return first if first.count("-") > 1 and number.isascii() and number.isdigit() else ""


@attrs.define
class _Turn:
    """A prompt that is worked on."""

    over: trio.Event = attrs.field(factory=trio.Event)
    since: float = math.inf
    """The newest event before it: what is told late ends it not; as long as nobody has looked, nothing does."""
    reason: str = _TURN
    cancelled: bool = False
    error: HubError | None = None

    def end(self, reason: str) -> None:
        self.reason = _CANCELLED if self.cancelled else reason
        self.over.set()


@attrs.define
class EditorConversation:
    """One of them.

    Args:
        id: As the editor knows it.
        daemon: The project's.
        editor: Who is told, and asked.
        nursery: Where it is followed, as long as the editor is there.
    """

    id: str
    daemon: ProjectDaemon
    editor: EditorConnection
    nursery: trio.Nursery
    choices: SessionChoices = attrs.field(factory=SessionChoices)
    sessions: list[str] = attrs.field(factory=list)
    """Those that have begun, the oldest first."""
    _teller: Teller = attrs.field(init=False)
    _turn: _Turn | None = None
    _since: int = -1
    """The newest event that was told; -1 = none was looked for."""
    _followed: bool = False
    _following: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _asking: Asking = attrs.field(init=False)
    _own: int = 0
    """Replies from here that the log has not told yet: the editor shows them already."""

    def __attrs_post_init__(self) -> None:
        self._teller = Teller(self.tree_of(self.id))
        self._asking = Asking(self.id, self.daemon, self.editor, self.tree_of, self._teller.call_of)

    def tree_of(self, session_id: str) -> PurePath:
        """Where the agents of a session work."""
        return self.daemon.root / ".hub" / "worktrees" / session_id

    # --- what the editor asks ---------------------------------------------------------------------------

    async def prompt(self, blocks: object) -> JsonObject:
        """Work on a prompt until an agent is done with it, has a question, or the user has enough.

        Raises:
            RefusedError, HubError: Nothing was begun.
        """
        if self._turn is not None:
            raise RefusedError(
                INVALID_REQUEST, "A prompt of this session is being worked on: cancel it, or wait."
            )
        text = text_of(blocks, self.daemon.root)
        turn = self._turn = _Turn()
        try:
            await self.daemon.ensure()
            await self._be_followed()
            if self.sessions:
                await self._look()
            turn.since = await self.daemon.newest() if self.sessions else 0
            await self._say(text)
            if turn.cancelled:
                await self._stop()
            await turn.over.wait()
        finally:
            self._turn = None
        if turn.error is not None:
            raise turn.error
        return {"stopReason": turn.reason, **await self._usage()}

    def close(self) -> None:
        """Tell and ask nothing more: the editor has opened it anew. The session goes on."""
        self._following.cancel()
        self._asking.close()

    def cancel(self) -> None:
        """End what is worked on, in order: what was done is on the branch, and the next prompt goes on from there."""
        if self._turn is not None and not self._turn.cancelled:
            self._turn.cancelled = True
            if self.sessions:
                self.nursery.start_soon(self._stop)

    async def load(self, *, replay: bool) -> None:
        """Come back to a conversation, with all that was said in it.

        Raises:
            HubError: `not_found`.
        """
        await self.daemon.ensure()
        mine = await self._look()
        if not mine:
            raise HubError(Code.NOT_FOUND, f"There is no session {self.id}.", hint="See them all: hub ls")
        self._since = await self.daemon.newest()
        for session_id in self.sessions:
            await self._replay(session_id, told=replay)
        if replay:
            await self._show_changes()
        if not mine[-1].ended_at:
            await self._be_followed()
            for approval in await self.daemon.get(list[Approval], "/api/approvals"):
                if approval.session_id in self.sessions:
                    self.nursery.start_soon(self._asking.ask, approval.id)

    async def _look(self) -> list[Session]:
        """The sessions of the conversation that have begun, the oldest first; another editor may have begun some."""
        rows = (await self.daemon.get(Sessions, "/api/sessions")).sessions
        mine = [row for row in rows if self._is_mine(row.session_id)]
        for row in mine:
            self._learn(row.session_id)
        return mine

    def _is_mine(self, session_id: str) -> bool:
        return bool(re.fullmatch(rf"{re.escape(self.id)}(-[0-9]+)?", session_id))

    def _learn(self, session_id: str) -> None:
        if session_id not in self.sessions:
            self.sessions = sorted((*self.sessions, session_id), key=self._number)

    def _number(self, session_id: str) -> int:
        return int(session_id.removeprefix(self.id).lstrip("-") or 1)

    async def _replay(self, session_id: str, *, told: bool) -> None:
        """All that happened in a session, up to where it is followed from: what comes then is told with that in mind."""
        since = 0
        while page := await self.daemon.page(session_id, since):
            for record in page:
                updates = self._tell(record) if record["id"] <= self._since else ()
                await self.update(*(updates if told else ()))
            since = page[-1]["id"]

    # --- orders to the daemon ---------------------------------------------------------------------------

    async def _say(self, text: str) -> None:
        """A reply to the agent at work, once there is one that hears; else a session begins."""
        while self.sessions:
            current = self.sessions[-1]
            try:
                status = await self.daemon.get(Status, "/api/status", {"sessionId": current})
                if status.paused:
                    go_on = Pause(pause=False, session_id=current)
                    await self.daemon.post(Paused, "/api/session/pause", go_on)
                if not status.ended_at:
                    self._own += 1
                    reply = TextReply(reply=text, session_id=current)
                    await self.daemon.post(Replied, "/api/session/reply", reply)
                    return
                break
            except HubError as error:
                self._own = 0
                if error.code in _GONE:
                    break
                if error.code is not Code.HANDOFF_IN_PROGRESS:
                    raise
            await trio.sleep(_BREATH)
        await self._begin(text)

    async def _begin(self, text: str) -> None:
        session_id = self._next()
        chosen = self.choices
        order = Run(
            task=text, session_id=session_id, queue=True, provider=chosen.agent, profile=chosen.profile
        )
        before = list(self.sessions)
        self._own += 1
        self.sessions.append(session_id)
        self._teller.tree = self.tree_of(session_id)
        try:
            await self._ordered(order, before)
        except BaseException:
            self._own = 0
            self.sessions.remove(session_id)
            raise

    def _next(self) -> str:
        """The id of the session that comes next."""
        return f"{self.id}-{self._number(self.sessions[-1]) + 1}" if self.sessions else self.id

    async def _ordered(self, order: Run, before: list[str]) -> Started:
        """On the work of the newest session that left some; one that was cancelled while it waited left none."""
        for session_id in reversed(before):
            try:
                following = attrs.evolve(order, continues=session_id)
                return await self.daemon.insist(Started, "/api/run", following)
            except HubError as error:
                if error.code not in _NOTHING:
                    raise
        return await self.daemon.insist(Started, "/api/run", order)

    async def _stop(self) -> None:
        turn = self._turn
        try:
            await self.daemon.post(Stopped, "/api/session/stop", Which(session_id=self.sessions[-1]), END)
        except HubError as error:
            if turn is None or turn.over.is_set():
                return
            if error.code not in _GONE:
                await self.update(
                    self._teller.note(f"**hub:** it could not be stopped: {error.detail} {error.hint}")
                )
            turn.end(_CANCELLED)

    async def _usage(self) -> JsonObject:
        try:
            cost = await self.daemon.get(Cost, "/api/session/cost", {"sessionId": self.sessions[-1]})
        except HubError:
            return {}
        usage = {
            "totalTokens": cost.tokens_in + cost.tokens_out,
            "inputTokens": cost.tokens_in,
            "outputTokens": cost.tokens_out,
            "cachedReadTokens": cost.cached_in,
            "cachedWriteTokens": cost.cache_write_in,
        }
        return {"usage": usage}

    # --- what the daemon tells --------------------------------------------------------------------------

    async def _be_followed(self) -> None:
        """From now on whatever happens is told."""
        if self._since < 0:
            self._since = await self.daemon.newest()
        if not self._followed:
            self._followed = True
            self.nursery.start_soon(self._follow)

    async def _follow(self) -> None:
        with self._following:
            try:
                await self.daemon.follow(self._since, self._take, lambda: self._turn is not None)
            except HubError as error:
                self._lost(error)
            except Exception as error:  # noqa: BLE001  # the edge: the editor's other conversations go on
                self._lost(HubError(Code.INTERNAL, f"The session cannot be shown: {type(error).__name__}"))

    def _lost(self, error: HubError) -> None:
        """It is followed no longer; the next prompt tries anew."""
        self._followed = False
        if self._turn is not None:
            self._turn.error = error
            self._turn.over.set()

    async def _take(self, records: Records) -> None:
        for record in records:
            if self._is_mine(str(record.get("meta", {}).get("sessionId"))):
                self._learn(record["meta"]["sessionId"])
                await self._happened(record)
            self._since = record["id"]

    def _tell(self, record: RecordJson) -> list[Update]:
        self._teller.tree = self.tree_of(record["meta"]["sessionId"])
        return self._teller.tell(record)

    async def _happened(self, record: RecordJson) -> None:
        meta = record["meta"]
        updates = self._tell(record)
        if self._own and any(update["sessionUpdate"] == USER for update in updates):
            self._own -= 1
            updates = [update for update in updates if update["sessionUpdate"] != USER]
        if record["tag"] == "tool_result" and updates and not meta.get("isError"):
            updates[-1]["content"] += await self._changed(meta, updates[-1])
        await self.update(*updates)
        if meta.get("needsApproval"):
            self.nursery.start_soon(self._asking.ask, meta["approvalId"])
        elif "approved" in meta and "approvalId" in meta:
            self._asking.settled(meta["approvalId"])
        if meta["sessionId"] != self.sessions[-1]:
            return
        if "ended" in meta:
            await self._show_changes()
        if ("ended" in meta or meta.get("needsInput")) and self._turn and record["id"] > self._turn.since:
            self._turn.end(_CANCELLED if meta.get("ended") == "stopped" else _TURN)

    async def update(self, *updates: Update) -> None:
        """Tell the editor."""
        for update in updates:
            await self.editor.tell("session/update", {"sessionId": self.id, "update": update})

    # --- changes ----------------------------------------------------------------------------------------

    async def _changed(self, meta: EventMeta, update: Update) -> list[JsonObject]:
        """What is different now in the file that a tool was used on."""
        tree = self.tree_of(meta["sessionId"])
        paths = [PurePath(place["path"]) for place in update.get("locations", ())]
        inner = {str(path.relative_to(tree)) for path in paths if path.is_relative_to(tree)}
        if not inner or "command" in meta:
            return []
        diff = await self._diff(meta["sessionId"])
        found = changes_of(diff.diff if diff else "")
        return [change.block(tree) for change in found if change.path in inner]

    async def _show_changes(self) -> None:
        """All that the newest session has changed, as one call."""
        session_id = self.sessions[-1]
        diff = await self._diff(session_id)
        if not diff or not diff.diff:
            return
        tree = self.tree_of(session_id)
        found = changes_of(diff.diff)
        *_, total = diff.summary.strip().splitlines() or [""]
        places = [{"path": str(tree / one.path), "line": one.line} for one in found]
        await self.update(
            {
                "sessionUpdate": "tool_call",
                "toolCallId": f"changes {session_id} {self._since}",
                "title": f"Changes on hub/{session_id}: {total.strip()}",
                "kind": "edit",
                "status": "completed",
                "content": [
                    content(f"{diff.summary.rstrip()}\n\nTake it: hub take {session_id}"),
                    *(change.block(tree) for change in found),
                ],
                "locations": places,
            }
        )

    async def _diff(self, session_id: str) -> Diff | None:
        try:
            return await self.daemon.get(Diff, "/api/session/diff", {"sessionId": session_id})
        except HubError:
            return None
