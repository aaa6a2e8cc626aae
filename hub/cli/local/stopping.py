"""A stop where no daemon runs: the session that an earlier one left unfinished is ended in order.

Owns: the wish for a stop, on record before a daemon of our own is started for it.
Must not: let an agent work on for it, or begin what else waits in the project.
"""

from __future__ import annotations

import os
import time

import attrs

from hub.actors.sessions.queue import Queue
from hub.api.session import Stopped
from hub.cli.local.join import daemon_for
from hub.domain.session import SessionRecord
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.project.hub_dir import insist_stamped, insist_usable
from hub.io.project.lock import project_lock
from hub.io.project.places import Places
from hub.io.project.trust import Gate
from hub.io.records.sessions import found, home_of, meant, session_store

_SEVERAL = "More than this one session would go on where a daemon starts: {}."


def insist_alone(places: Places, record: SessionRecord) -> None:
    """Refuse a stop for which a daemon would begin what it is not asked for.

    Raises:
        HubError: `daemon_not_running`; more than this session would go on.
    """
    queue = Queue(places)
    queue.load()
    active = [one.session_id for one in found(places) if one.session_state.active]
    others = [
        one for one in (*active, *(one.session_id for one in queue.waiting)) if one != record.session_id
    ]
    if record.run_id:
        others.append(f"pipeline run {record.run_id}")
    if others:
        hint = f"Start the daemon: hub daemon   Then: hub stop {record.session_id}"
        raise HubError(Code.DAEMON_NOT_RUNNING, _SEVERAL.format(", ".join(others)), hint=hint)


async def stop_unfinished(places: Places, given: str) -> Stopped | None:
    """End the session that no daemon carries on, in order; None where there is none.

    The wish is on record before the daemon looks, so no agent is started for it; what keeps it from ending leaves it there.

    Args:
        places: The project's.
        given: The session's id, or the beginning of one; "" = the only one that has not ended.

    Raises:
        HubError: `not_found`, `which_session`, `daemon_not_running`; what keeps it from ending.
    """
    insist_usable(places.root)
    insist_stamped(places)
    record = meant(places, given)
    if not record.session_state.active:
        return None
    insist_alone(places, record)
    session_id = record.session_id
    with project_lock(places.lock):
        record = meant(places, session_id)
        if record.session_state.active and not record.stopping:
            wish = attrs.evolve(record, seq=record.seq + 1, at=iso(time.time()), stopping="user")
            session_store(home_of(places, session_id)).save(wish)
    gate = Gate.of(places.root, os.environ)
    async with daemon_for(places.root, None, quiet=True, gate=gate) as joined:
        joined.session_id, joined.begun = session_id, True
        await joined.stop_session()
    record = meant(places, session_id)
    if record.session_state.active:
        raise HubError(Code.DAEMON_NOT_RUNNING, f"Session {session_id} has not ended yet.")
    return Stopped(session_id=session_id, state=record.session_state)
