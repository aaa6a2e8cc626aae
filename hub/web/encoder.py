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
        self._cache: dict[int, tuple[Record, bytes]] = {}

    def json(self, record: Record) -> bytes:
        """The record as in `GET /api/events`."""
        slot = record.id % CACHED
        known = self._cache.get(slot)
        if known is None or known[0] is not record:
            known = self._cache[slot] = (record, encode(record.to_json()))
        return known[1]

    def frames(self, records: Sequence[Record], *, batch: bool) -> bytes:
        """The WebSocket messages of a client that takes one record in each, or the one of a client that takes an array."""
        texts = [self.json(record) for record in records]
        return b"".join(map(text_frame, [b"[%s]" % b",".join(texts)] if batch else texts))
