"""Those who wait for the session's end, and what they are told.

Owns: the replies owed to whoever asked for a stop or for the end, and the approvals that nobody waits for any more.
Must not: end the session (the driver does).
"""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
import trio

from hub import messages
from hub.actors.insist import insist
from hub.actors.session import views
from hub.actors.session.kit import Kit
from hub.actors.trouble import PASSING
from hub.errors import Code, HubError
from supervisors import DEFER, Reply

_STOP_PATIENCE = 5.0
"""Seconds after which whoever asked for a stop is told what keeps the session from ending; the wish stays."""


async def withdraw_all(kit: Kit, session_id: str) -> None:
    """The session has ended: nobody waits for somebody's word any more."""
    with contextlib.suppress(HubError):  # a full disk: they are withdrawn at the next start
        await insist(kit.approvals, messages.WithdrawApprovals(session_id))


@attrs.define
class Ends:
    """Answers once the session has ended and its end is told."""

    kit: Kit
    _stops: list[Reply] = attrs.field(factory=list)
    _ends: list[Reply] = attrs.field(factory=list)

    def stop(self, reply: Reply | None) -> Any:
        """A stop was asked for; it is answered when the session has ended."""
        if reply is not None:
            self._stops.append(reply)
            self.kit.board.touch()
        return DEFER

    def end(self, session_id: str, reply: Reply | None) -> Any:
        """Tell how the session ended, as soon as it has.

        Raises:
            HubError: `not_found`; another session, or none, is on record.
        """
        record = self.kit.ledger.record
        if record is None or record.session_id != session_id:
            raise HubError(Code.NOT_FOUND, f"Session {session_id} is not on record.")
        if self._ended():
            return views.ended(record)
        if reply is not None:
            self._ends.append(reply)
        return DEFER

    async def run(self) -> None:
        """Answer, for ever; one of the session actor's background tasks."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._answer_ends)
            nursery.start_soon(self._answer_stops)

    async def _answer_ends(self) -> None:
        while True:
            await self.kit.board.until(lambda: self._ends and self._ended())
            replies, self._ends = self._ends, []
            for reply in replies:
                reply.answer(views.ended(self.kit.ledger.now))

    async def _answer_stops(self) -> None:
        """Once the session has ended, or while a disk keeps it from ending."""
        board = self.kit.board
        while True:
            await board.until(lambda: self._stops)
            while not await board.until(self._ended, _STOP_PATIENCE):
                if board.trouble is not None and board.trouble.code in PASSING:
                    break
            replies, self._stops = self._stops, []
            for reply in replies:
                if self._ended():
                    now = self.kit.ledger.now
                    reply.answer({"sessionId": now.session_id, "state": now.session_state})
                elif board.trouble is not None:
                    reply.fail(views.unended(board.trouble))

    def _ended(self) -> bool:
        record = self.kit.ledger.record
        return record is None or not (record.session_state.active or self.kit.ledger.owes)
