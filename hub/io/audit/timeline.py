"""The audit log as the time machine shows it.

Owns: the shape of an entry, and which records a page has; where the records of one event are.
Must not: write to the log, or judge it.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from hub.api.convert import structure
from hub.api.history import HistoryEntry, Move
from hub.domain.audit import AuditRecord
from hub.domain.handoff import ABANDONED, Trigger
from hub.domain.session import LeftOut
from hub.errors import Code
from hub.io.audit.journal import AuditJournal

HANDOFF = "handoff"
_SCORE = "fidelity"
_SUMMARY = (
    "summary",
    "reason",
    "command",
    "to",
    "state",
    "sha",
    "contractId",
    "dispatchId",
    "commit",
    "branch",
)
_GROUP = 10_000
"""Records that are searched in one go."""
_KEPT = 16
"""Searches whose places are remembered."""


class Timeline:
    """Reads one open log; what was searched once is not searched again."""

    def __init__(self, journal: AuditJournal) -> None:
        self._journal = journal
        self._found: dict[tuple[str, str], tuple[list[int], int]] = {}
        """By event and session."""
        self._scores: dict[object, Mapping[str, Any]] = {}
        """By the handoff's id; it is computed after the handoff, and stands in a later record."""
        self._scored = 0

    def newest(self, limit: int) -> list[AuditRecord]:
        """The newest records, oldest first; of a log that was tampered with, those before the bad one."""
        return self._range(self._end() - limit, self._end())

    def page(
        self,
        limit: int,
        before: int | None = None,
        event: str = "",
        session_id: str = "",
        *,
        handoffs: bool = False,
    ) -> list[HistoryEntry]:
        """Entries, oldest first: the newest `limit` that are older than the record `before`.

        Args:
            limit: At most so many.
            before: Only records of a lower number; None = from the end of the log.
            event: Only records of this event; "" = of every one.
            session_id: Only records of this session; "" = of every one.
            handoffs: All handoffs that are older still come first, so that none is ever out of sight.

        Where the log was tampered with, its last page ends with an entry `audit_broken` in the place of the bad record
        and all that follow it, whatever was asked for: a shorter history must not look like a whole one.
        """
        end = self._end()
        last = [] if before is not None and before <= end else self._broken_at(end)
        end = end if before is None else min(before, end)
        if event or session_id:
            found = islice(self.found(event, session_id, end), limit)
            return [*map(self._entry, [*found][::-1]), *last]
        first = max(0, end - limit)
        older = self.page(first, first, HANDOFF) if handoffs and first else []
        return [*older, *map(self._entry, self._range(first, end)), *last]

    def found(self, event: str, session_id: str, end: int = sys.maxsize) -> Iterator[AuditRecord]:
        """The records of this event and session of a lower number than `end`, newest first; "" = of every one."""
        places = self._places(event, session_id)
        likely = (self._journal.read(seq, 1)[0] for seq in reversed(places[: bisect_left(places, end)]))
        # What an agent's own values look like is not believed.
        return (
            one
            for one in likely
            if event in {"", one.event} and session_id in {"", one.data.get("sessionId")}
        )

    def _broken_at(self, seq: int) -> list[HistoryEntry]:
        broken = self._journal.broken
        if broken is None or broken.code is not Code.AUDIT_BROKEN:
            return []
        told = f"{broken.detail} Nothing from there on is shown."
        record = AuditRecord(
            self._journal.changed_at(), "", "", str(Code.AUDIT_BROKEN), {"seq": seq, "summary": told}, b""
        )
        return [self._entry(record)]

    def _end(self) -> int:
        broken = self._journal.broken
        if broken is None or broken.code is not Code.AUDIT_BROKEN:
            return len(self._journal)
        return min(len(self._journal), broken.extra.get("seq") or 0)

    def _range(self, first: int, end: int) -> list[AuditRecord]:
        first = max(0, first)
        return self._journal.read(first, end - first) if end > first else []

    def _places(self, event: str, session_id: str = "") -> list[int]:
        """The numbers, in order, of the records whose line looks as one of this event and session does.

        Only what came since the last search is searched, and nothing is parsed.
        """
        places, searched = self._found.get((event, session_id), ([], 0))
        end = self._end()
        marks = []
        if event:
            marks.append(b'"event":"%s","hash":"' % event.encode())
        if session_id:
            marks.append(b'"sessionId":"%s"' % session_id.encode())
        while searched < end:
            stop = min(end, searched + _GROUP)
            found = (self._journal.places_of(mark, searched, stop) for mark in marks)
            places += sorted(set.intersection(*map(set, found)))
            searched = stop
        if len(self._found) >= _KEPT and (event, session_id) not in self._found:
            self._found.clear()
        self._found[event, session_id] = places, searched
        return places

    def _entry(self, record: AuditRecord) -> HistoryEntry:
        data = record.data
        score = self._score(data) if record.event in {HANDOFF, _SCORE} else {}
        hfs = score.get("hfs")
        parts = [str(data[name]) for name in _SUMMARY if data.get(name)]
        if data.get("timedOut"):
            parts.append("timed out")
        elif isinstance(data.get("exitCode"), int):
            parts.append(f"exit {data['exitCode']}")
        move = None
        if record.event == HANDOFF:
            move = Move(
                source=data.get("from", ""),
                target=data.get("to", ""),
                reason=data.get("reason", ""),
                abandoned=data.get("by") == Trigger.ABANDONED,
            )
            words = ": ".join(filter(None, (ABANDONED if move.abandoned else "", move.reason)))
            parts = [
                f"{move.source} -> {move.target}",
                *([words] if words else []),
                *([f"fidelity {hfs}"] if data.get(_SCORE) else []),
            ]
        elif record.event == _SCORE:
            parts = [f"fidelity {'unknown' if hfs is None else hfs}"]
        return HistoryEntry(
            seq=record.seq,
            ts=record.ts,
            event=record.event,
            provider=data.get("provider", ""),
            summary=", ".join(parts),
            session_id=data.get("sessionId", ""),
            account=data.get("account", ""),
            exit_code=data.get("exitCode"),
            hfs=hfs,
            missing=list(score.get("missing", ())),
            unsupported=list(score.get("unsupported", ())),
            passed_by=structure(data.get("passedBy", []), list[LeftOut], closed=False),
            move=move,
            commit=data.get("commit") or data.get("sha", ""),
            branch=data.get("branch", ""),
        )

    def _score(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The score of the handoff that a record ends, `pending` until it has one; of another record its own."""
        if not data.get(_SCORE):
            return data
        places = self._places(_SCORE)
        for seq in places[self._scored :]:
            told = self._journal.read(seq, 1)[0]
            if told.event == _SCORE:
                self._scores[told.data.get("handoffId")] = told.data
        self._scored = len(places)
        return self._scores.get(data.get("handoffId"), {"hfs": data[_SCORE]})
