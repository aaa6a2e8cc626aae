"""Counting how often a loop falls over the same record.

Owns: the count.
Must not: decide what is given up then.
Tests: tests/hub/actors/session/test_driver.py
"""

from __future__ import annotations

import attrs

_TRIES = 3
"""How often one record may end an actor with an unforeseen error before what it records is given up."""


@attrs.define
class CrashLoopGuard:
    """How often an actor fell over the same record; outlives the actor, not the daemon."""

    _place: tuple[str, int] = ("", 0)
    _count: int = 0

    def again(self, record_id: str, seq: int) -> bool:
        """Count one more; whether it is no use to try that record another time."""
        place = (record_id, seq)
        self._count = self._count + 1 if place == self._place else 1
        self._place = place
        return self._count > _TRIES
