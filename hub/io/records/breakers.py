"""`.hub/breakers.json`: the circuit breakers as they are kept.

Owns: the form of that record.
Must not: hold a rule of theirs, or decide what follows where it cannot be read.
Tests: tests/hub/actors/test_breakers.py
"""

from __future__ import annotations

import attrs

from hub.domain.breaker import CircuitBreaker
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore, as_named


@attrs.frozen
class KeptBreakers:
    """The record."""

    breakers: tuple[CircuitBreaker, ...] = ()


_FORM = RecordForm(
    KeptBreakers,
    "The circuit breakers",
    older={0: lambda wire: KeptBreakers(as_named(wire, tuple[CircuitBreaker, ...]))},
)


def breaker_store(places: Places) -> RecordStore[KeptBreakers]:
    """Where they are kept."""
    return RecordStore(places.hub_dir / "breakers.json", _FORM)
