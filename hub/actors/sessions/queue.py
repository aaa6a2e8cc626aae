"""The orders that wait for their turn: `.hub/queue.json`.

Owns: that file, and the order of it: first in, first out.
Must not: say whose turn it is (the register does).
"""

from __future__ import annotations

import attrs

from hub.api.session import Started
from hub.domain.missing import invalid_field
from hub.errors import HubError
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore
from hub.messages.session import StartRun

_MOST = 1000
"""Orders that may wait."""


@attrs.frozen
class Queued:
    """One order, with the id that its session will have."""

    order: StartRun
    at: float
    """Epoch seconds."""

    @property
    def session_id(self) -> str:
        """The session's, from now on."""
        return self.order.session_id


@attrs.frozen
class KeptQueue:
    """The record."""

    waiting: tuple[Queued, ...] = ()


FORM = RecordForm(KeptQueue, "The queue")


@attrs.define
class Queue:
    """Durable: what it says it has, a restart finds."""

    places: Places
    waiting: tuple[Queued, ...] = ()
    _store: RecordStore[KeptQueue] = attrs.field(
        default=attrs.Factory(lambda self: RecordStore(self.places.queue, FORM), takes_self=True)
    )

    def load(self) -> HubError | None:
        """Read it back; why there is none although there is a file."""
        found, damage = self._store.load()
        self.waiting = (found or KeptQueue()).waiting
        return damage

    def find(self, given: str) -> Queued | None:
        """The order whose session has that id, or the only one whose id begins so."""
        found = [one for one in self.waiting if one.session_id.startswith(given)]
        exact = [one for one in found if one.session_id == given]
        return (exact or found)[0] if len(exact or found) == 1 else None

    def add(self, queued: Queued) -> None:
        """Put one at the end; durable when this returns.

        Raises:
            HubError: `invalid`, for there are too many; NO_SPACE, READ_ONLY.
        """
        if len(self.waiting) >= _MOST:
            hint = "Stop one of them: hub stop ID"
            raise invalid_field("queue", f"{_MOST} sessions are already waiting for their turn.", hint)
        self._write((*self.waiting, queued))

    def remove(self, session_id: str) -> None:
        """Take one out; durable when this returns."""
        self._write(tuple(one for one in self.waiting if one.session_id != session_id))

    def told(self, queued: Queued) -> Started:
        """The answer to whoever gave the order."""
        order = queued.order
        position = [one.session_id for one in self.waiting].index(order.session_id) + 1
        branch, worktree = f"hub/{order.session_id}", str(self.places.worktree(order.session_id))
        return Started(
            session_id=order.session_id,
            task_id=order.task_id,
            branch=branch,
            withheld=[],
            worktree=worktree,
            position=position,
        )

    def _write(self, waiting: tuple[Queued, ...]) -> None:
        self._store.save(KeptQueue(waiting), "queue")
        self.waiting = waiting
