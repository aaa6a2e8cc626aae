"""Going on with the work of a session that has ended.

Owns: where such a session begins, and what of the one before is told in it.
Must not: change the record of the one before, or say whether there is a place for it.
"""

from __future__ import annotations

import attrs

from hub.actors.session.roster import Roster
from hub.errors import Code, HubError
from hub.messages import StartRun


def goes_on(order: StartRun, roster: Roster) -> StartRun:
    """The order with what it takes from the session that it goes on with, if it does.

    It begins at that one's last snapshot, which is kept also where the branch is not. A session that never came so far left
    nothing to go on with but its task.

    Raises:
        HubError: `not_found`, `which_session`; `session_already_running`: that one has not ended.
    """
    if not order.continues:
        return order
    session_id = roster.known(order.continues)
    record = roster.homes.read(session_id)
    if record is None:
        raise HubError(Code.NOT_FOUND, f"The record of session {session_id} cannot be read.")
    if record.session_state.active:
        hint = f'Answer it: hub reply --session {session_id} "..."   Or end it first: hub stop {session_id}'
        raise HubError(Code.SESSION_ALREADY_RUNNING, f"Session {session_id} has not ended.", hint=hint)
    earlier = (*record.earlier, record.task)
    return attrs.evolve(order, continues=session_id, base=record.snapshot_sha, earlier=earlier)
