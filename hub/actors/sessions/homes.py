"""Where each session's record and contract are: the project's own place, and a folder for each further one.

Owns: which session has the project's own place, and that what is there is kept before another takes it.
Must not: change a record, or say what follows from one.

`.hub/fsm.json`, `envelope.md` and `envelope.json` are those of the session that found the project's place free; the
others have theirs in `.hub/sessions/<id>/`. What had the place goes there too when another takes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence

import attrs

from hub.actors.session.store import SessionStore
from hub.domain.contract import MAX_BYTES
from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io.files.atomic import read_bounded, write_atomic
from hub.io.project.places import Places, make_private_dir
from hub.io.records.sessions import homes, session_store


@attrs.define
class Homes:
    """Every session that is on record, the oldest first."""

    places: Places
    """The project's own."""
    store: Callable[[Places], SessionStore]
    """A store for the records at a place."""
    refused: HubError | None = None
    """Why no session may begin: the project's record is a newer hub's."""
    unfinished: list[str] = attrs.field(factory=list)
    """Who was not over when the records were read."""
    runs: set[str] = attrs.field(factory=set)
    """The pipeline runs of these, and of the newest."""
    _own: str = ""
    """Whose the project's own place is."""
    _begun: dict[str, str] = attrs.field(factory=dict)
    """When each began."""

    @property
    def known(self) -> Collection[str]:
        """The ids, the oldest first."""
        return self._begun.keys()

    @property
    def newest(self) -> str:
        """The last one that began; "" = none ever has."""
        return next(reversed(self._begun), "")

    def load(self) -> list[HubError]:
        """Read every record back; what is damaged is kept aside, and why is the answer.

        Raises:
            HubError: `disk_failed`; nothing may be done before the records can be read.
        """
        damage, found = [], {}
        for places in homes(self.places):
            store = self.store(places)
            if (problem := store.load()) is not None:
                damage.append(problem)
            if places is self.places:
                self.refused = store.file.refused
                self._own = store.record.session_id if store.record is not None else ""
            if store.record is not None:
                found[store.record.session_id] = store.record
        records = sorted(found.values(), key=lambda record: (record.started_at, record.session_id))
        self._begun = {record.session_id: record.started_at for record in records}
        self.unfinished = [record.session_id for record in records if record.session_state.active]
        open_ = [record for record in records if record.session_state.active] + records[-1:]
        self.runs = {record.run_id for record in open_ if record.run_id}
        return damage

    def of(self, session_id: str) -> Places:
        """Where the session's files are."""
        return self.places if session_id == self._own else self.places.of(session_id)

    def read(self, session_id: str) -> SessionRecord | None:
        """The record of a session that nobody carries on; None where it cannot be read. Changes nothing."""
        with contextlib.suppress(HubError):
            return session_store(self.of(session_id)).look()
        return None

    def place(self, session_id: str, open_: Sequence[str]) -> Places:
        """Where a new session's files are to be: the project's own place, if nobody has it who is not over."""
        return self.places.of(session_id) if self._own and self._own in open_ else self.places

    async def begin(self, places: Places, record: SessionRecord) -> None:
        """Put a new session on record; durable when this returns.

        Raises:
            HubError: NO_SPACE, READ_ONLY...; nothing has begun.
        """
        if self.refused is not None:
            raise self.refused
        if places is self.places:
            self._keep_own()
        else:
            make_private_dir(places.home)
        await self.store(places).begin(record)
        if places is self.places:
            self._own = record.session_id
        self._begun[record.session_id] = record.started_at

    def _keep_own(self) -> None:
        """What has the project's place goes to its own folder; a copy, until another one takes the place."""
        record = self.read(self._own) if self._own else None
        if record is None:
            return
        kept = self.places.of(record.session_id)
        make_private_dir(kept.home)
        for source, target in (
            (self.places.envelope_md, kept.envelope_md),
            (self.places.envelope_json, kept.envelope_json),
        ):
            with contextlib.suppress(FileNotFoundError):
                write_atomic(target, read_bounded(source, MAX_BYTES))
        session_store(kept).save(record)
