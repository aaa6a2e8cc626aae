"""The text of records for those who follow the log, each made once for all of them.

Owns: the two forms, JSON and a WebSocket's frame, and how many are kept.
Must not: know who follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.domain.event import Record
from hub.web.codec import encode
from hub.web.websocket import text_frame

CACHED = 1024
MAX_BATCH = 256
"""Records in one message of a client that takes several."""


class Encoder:
    """The JSON of records.

    The newest `CACHED` are kept; a record is the same one only when it is the same object.
    """

    def __init__(self) -> None:
        self._cache: dict[int, tuple[Record, bytes, bytes]] = {}

    def json(self, record: Record) -> bytes:
        """The record as in `GET /api/events`."""
        return self._known(record)[1]

    def frame(self, record: Record) -> bytes:
        """The same as a WebSocket message."""
        return self._known(record)[2]

    def frames(self, records: Sequence[Record], *, batch: bool) -> bytes:
        """The messages of a client that takes one record in each, or arrays of up to `MAX_BATCH`."""
        if not batch:
            return b"".join(map(self.frame, records))
        arrays = [records[start : start + MAX_BATCH] for start in range(0, len(records), MAX_BATCH)]
        return b"".join(text_frame(b"[%s]" % b",".join(map(self.json, array))) for array in arrays)

    def _known(self, record: Record) -> tuple[Record, bytes, bytes]:
        slot = record.id % CACHED
        known = self._cache.get(slot)
        if known is None or known[0] is not record:
            json = encode(record.to_json())
            known = self._cache[slot] = (record, json, text_frame(json))
        return known
