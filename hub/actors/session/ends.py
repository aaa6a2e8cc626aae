"""Those who wait for the session's end, and what they are told.

Owns: what whoever asked for a stop or for the end is answered, and when; and the approvals that nobody waits for any more.
Must not: end the session (the driver does).
"""

from __future__ import annotations

import contextlib

from hub import messages
from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import PASSING
from hub.actors.session import views
from hub.actors.session.context import Kit
from hub.api.session import Stopped
from hub.errors import Code, HubError

_STOP_PATIENCE = 5.0
"""Seconds after which whoever asked for a stop is told what keeps the session from ending; the wish stays."""


async def withdraw_all(kit: Kit, session_id: str) -> None:
    """The session has ended: nobody waits for somebody's word any more."""
    with contextlib.suppress(HubError):  # a full disk: they are withdrawn at the next start
        await call_until_answered(kit.approvals, messages.WithdrawApprovals(session_id))


async def ended(kit: Kit, session_id: str) -> messages.Ended:
    """How the session ended, as soon as it has and its end is told.

    Raises:
        HubError: `not_found`; another session, or none, is on record.
    """
    record = kit.ledger.record
    if record is None or record.session_id != session_id:
        raise HubError(Code.NOT_FOUND, f"Session {session_id} is not on record.")
    await kit.board.until(lambda: _over(kit))
    return views.ended(kit.ledger.now)


async def stopped(kit: Kit) -> Stopped:
    """What whoever asked for a stop is answered, once the session has ended.

    Raises:
        HubError: What keeps it from ending, while a disk does; the wish stays.
    """
    board = kit.board
    while not await board.until(lambda: _over(kit), _STOP_PATIENCE):
        if board.trouble is not None and board.trouble.code in PASSING:
            raise views.unended(board.trouble)
    now = kit.ledger.now
    return Stopped(session_id=now.session_id, state=now.session_state)


def _over(kit: Kit) -> bool:
    record = kit.ledger.record
    return record is None or not (record.session_state.active or kit.ledger.owes)
