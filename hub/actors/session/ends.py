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
from hub.actors.session.context import SessionContext
from hub.api.session import Stopped
from hub.errors import Code, HubError

_STOP_PATIENCE = 5.0
"""Seconds after which whoever asked for a stop is told what keeps the session from ending; the wish stays."""


async def withdraw_all(context: SessionContext, session_id: str) -> None:
    """The session has ended: nobody waits for somebody's word any more."""
    with contextlib.suppress(HubError):  # a full disk: they are withdrawn at the next start
        await call_until_answered(context.approvals, messages.WithdrawApprovals(session_id))


async def ended(context: SessionContext, session_id: str) -> messages.Ended:
    """How the session ended, as soon as it has and its end is told.

    Raises:
        HubError: `not_found`; another session, or none, is on record.
    """
    record = context.store.record
    if record is None or record.session_id != session_id:
        raise HubError(Code.NOT_FOUND, f"Session {session_id} is not on record.")
    await context.shared.until(lambda: _over(context))
    return views.ended(context.store.now)


async def stopped(context: SessionContext) -> Stopped:
    """What whoever asked for a stop is answered, once the session has ended.

    Raises:
        HubError: What keeps it from ending, while a disk does; the wish stays.
    """
    shared = context.shared
    while not await shared.until(lambda: _over(context), _STOP_PATIENCE):
        if shared.trouble is not None and shared.trouble.code in PASSING:
            raise views.unended(shared.trouble)
    now = context.store.now
    return Stopped(session_id=now.session_id, state=now.session_state)


def _over(context: SessionContext) -> bool:
    record = context.store.record
    return record is None or not (record.session_state.active or context.store.owes)
