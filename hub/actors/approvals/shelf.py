"""The durable record of the requests: `.hub/approvals.json`.

Owns: that file. Every change of a request is in it before anybody sees the change.
Must not: decide anything, or tell anybody.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from hub.domain.approval import Approval, decode, encode, history, spare
from hub.errors import Code, HubError
from hub.io.places import Places
from hub.io.sealed import NotSealed, put_aside, read_sealed, write_sealed

_LIMIT = 64 * 1024 * 1024


@attrs.define
class Shelf:
    """All that wait, and what was decided in the present run of the agent: it may be asked for again."""

    places: Places
    clock: Callable[[], float]
    _kept: dict[str, Approval] = attrs.field(factory=dict)

    def load(self) -> HubError | None:
        """Read the record back. A damaged file is kept aside and reported: what an agent asks, it asks again."""
        try:
            found = decode(read_sealed(self.places.approvals, _LIMIT))
        except FileNotFoundError:
            return None
        except NotSealed as error:
            aside = put_aside(self.places.approvals)
            return HubError(error.code, f"{error} It was kept as {aside.name}.")
        except ValueError as error:
            aside = put_aside(self.places.approvals, "corrupt")
            return HubError(Code.STATE_CORRUPT, f"The approvals: {error}; the file was kept as {aside.name}.")
        self._kept = {approval.id: approval for approval in found}
        return None

    def all(self) -> list[Approval]:
        """Every request, oldest first."""
        return list(self._kept.values())

    def find(self, number: str) -> Approval | None:
        """The request of that id."""
        return self._kept.get(number)

    def add(self, approval: Approval) -> None:
        """Keep a new request; durable when this returns. What nobody can ask for any more is dropped.

        Raises:
            HubError: NO_SPACE, READ_ONLY, NO_PERMISSION; nothing has changed.
        """
        kept = {one.id: one for one in self.all() if not history(one, approval.request)}
        self._write({**kept, approval.id: approval})

    def change(self, *approvals: Approval) -> None:
        """Keep how these stand now; durable when this returns.

        Raises:
            HubError: As `add`.
        """
        self._write({**self._kept, **{approval.id: approval for approval in approvals}})

    def told(self, approval: Approval) -> None:
        """Remember that a decision was told. On the disk with the next write: to tell it again changes nothing."""
        self._kept[approval.id] = spare(approval)

    def _write(self, kept: dict[str, Approval]) -> None:
        try:
            write_sealed(self.places.approvals, encode(list(kept.values())), failpoint="approvals")
        except OSError as error:
            detail = f"Cannot write {self.places.approvals}: the disk failed ({error.strerror})."
            raise HubError(Code.READ_ONLY, detail) from error
        self._kept = kept
