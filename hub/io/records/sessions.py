"""The records of sessions, `fsm.json`: everything hub must know of a session after its own death.

Owns: their form, that each names its own session's worktree and branch, where they all are, and which one an id means.
Must not: decide what follows from a record (`hub.domain.handoff` does).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs

from hub.api.convert import structure
from hub.domain.session import ID, SessionRecord, meant_by
from hub.errors import Code, HubError
from hub.io.project.places import Places
from hub.io.records.store import Corruption, RecordCorrupt, RecordForm, RecordStore

_OLD_WORK = (
    "The work of an earlier session is on its branch: git branch --list 'hub/*', hub history --commits."
    ' Go on with a new one: hub run "task"'
)

_HANDOFF = ("trigger", "reason", "safePoint", "snapshotTree", "contractId", "contractSha256", "treeMatches")


def _first(wire: dict[str, Any]) -> SessionRecord:
    """Of version 1: its fields stood side by side, and its fractions were whole per mille and hundredths."""
    handoff = {name: wire[name] for name in _HANDOFF if name in wire}
    if wire.get("toProvider"):
        handoff["receiver"] = {"provider": wire["toProvider"], "account": wire["toAccount"]}
    wait = None
    if wire.get("waitUntil"):
        then = wire.get("waitThen") or "retry"
        wait = {"until": wire["waitUntil"], "reason": wire["waitReason"], "then": then}
    scores = [score // 100 if score % 100 == 0 else score / 100 for score in wire["hfsHistory"]]
    changed = {"threshold": wire["threshold"] / 1000, "hfsHistory": scores, "handoff": handoff, "wait": wait}
    return structure({**wire, **changed}, SessionRecord, closed=False)


def _second(wire: dict[str, Any]) -> SessionRecord:
    """Of version 2: what had refused the work stood behind the words that it is given back with."""
    refused = wire.get("correction", "").partition("\n\n")[2]
    return structure({"refused": refused, **wire}, SessionRecord, closed=False)


FORM = RecordForm(SessionRecord, "The session's record", version=3, older={1: _first, 2: _second})


@attrs.define
class SessionRecordStore(RecordStore[SessionRecord]):
    """The record at one place."""

    places: Places = attrs.field(kw_only=True)

    def look(self) -> SessionRecord | None:
        """As `RecordStore.look`; one that names another folder or branch than its session's is none."""
        record = super().look()
        if record is None:
            return None
        place, branch = str(self.places.worktree(record.session_id)), f"hub/{record.session_id}"
        if not ID.fullmatch(record.session_id) or (record.worktree, record.branch) != (place, branch):
            detail = "it names a worktree or a branch that is not its session's"
            raise RecordCorrupt(FORM.name, Corruption.INVALID, detail)
        return record


def session_store(places: Places) -> SessionRecordStore:
    """The record of the session that has these places."""
    return SessionRecordStore(places.fsm, FORM, _OLD_WORK, "fsm.read", places=places)


def homes(places: Places) -> list[Places]:
    """Wherever a record may be: the folders of single sessions, and last the project's own place."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(entry.name for entry in places.sessions.iterdir())
    return [*(places.of(name) for name in names if ID.fullmatch(name)), places]


def found(places: Places) -> list[SessionRecord]:
    """Every record that can be read, the oldest first; of a session that has two, the one at the project's place."""
    known: dict[str, SessionRecord] = {}
    for home in homes(places):
        with suppress(HubError):
            if (record := session_store(home).look()) is not None:
                known[record.session_id] = record
    return sorted(known.values(), key=lambda record: (record.started_at, record.session_id))


def home_of(places: Places, session_id: str) -> Places:
    """Where that session's record is: as `found`, the project's own place before a folder of its own."""
    record = None
    with suppress(HubError):
        record = session_store(places).look()
    return places if record is not None and record.session_id == session_id else places.of(session_id)


def meant(places: Places, given: str) -> SessionRecord:
    """The record of the session with this id, or the beginning of one; "" = the only active one, else the newest.

    Raises:
        HubError: `no_active_session`, `not_found`, `which_session`; or what the one record there is suffers from.
    """
    known = found(places)
    if not given:
        active = [record for record in known if record.session_state.active]
        if not known:
            session_store(places).look()  # raises what it suffers from
            raise HubError(Code.NO_ACTIVE_SESSION)
        return active[0] if len(active) == 1 else known[-1]
    of = {record.session_id: record for record in known}
    return of[meant_by(given, of)]
