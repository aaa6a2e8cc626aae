"""The shape of what an agent's own sessions tell of its spending.

Owns: `SpentStore`.
Must not: open a file, or count (`hub.domain.quota.elsewhere` does).
Tests: tests/hub/actors/detector/test_meter.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from hub.domain.quota.elsewhere import Used
from hub.providers.store import Database


@attrs.frozen
class SpentStep:
    """An answer that a database tells of.

    Attributes:
        at_ms: When its row was made.
        folder: Where the agent works.
        used: The answer.
    """

    at_ms: int
    folder: str
    used: Used


def _tells_none(_record: Mapping[str, object], _session: str) -> None:
    return None


@attrs.frozen(kw_only=True)
class SpentStore:
    """Where the answers of an agent's sessions stand, with what each used.

    Attributes:
        suffix: Of the sessions' files; those in another format tell nothing.
        mark: Bytes that every record with an answer's usage in it has: all others are not even decoded.
        answer: The answer that one record of a session's file tells, or tells of once more; the second argument names
            the session.
        beside: The folder, next to a session's file and named after it, that has its subagents' files; "" for none.
        rows: Where the sessions are in a database: the steps made since a moment (epoch milliseconds), of all sessions.
    """

    suffix: str = ".jsonl"
    mark: bytes = b""
    answer: Callable[[Mapping[str, Any], str], Used | None] = _tells_none
    beside: str = ""
    rows: Callable[[Database, int], Sequence[SpentStep]] | None = None
