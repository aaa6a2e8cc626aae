"""What agents spend that hub did not start: the new records of their sessions' files.

Owns: which files are looked at, and the reading of what they have more.
Must not: run on the event loop, count (the quota actor does), or read what hub's own agents spend: the event log has it.

A look is one stat for each file, and reads only what was appended. A session that was never seen is read from not far
before its end. Where the ledger stands is the ledger's to say: after each look it tells, and a look that it has not
counted is repeated.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import attrs

from hub.domain.detection.detected import Detected, Kept
from hub.domain.detection.intel import Limits, Unreadable
from hub.domain.quota.elsewhere import UNSEEN, Growth, Used
from hub.io.stores import StoreFiles
from hub.providers.quota import QuotaClient, document

MOST = 4 * 1024 * 1024
"""Bytes that are read of one file at a time; no record that tells of tokens is as long."""
_ALL = 4 * MOST
"""Bytes that are read in one look; the rest waits for the next."""
_FILES = 64
_AGAIN = -1


@attrs.define
class _Session:
    provider: str
    account: str
    kept: Kept
    own: bool
    """Whether hub runs it."""
    size: int = _AGAIN
    """The file's size at the last look that was counted to its end."""


@attrs.define
class Meter:
    """The sessions that are followed."""

    clients: Callable[[str], QuotaClient | None]
    files: StoreFiles
    places: Mapping[str, int] | None = None
    """Up to which byte each file was counted; None while the ledger has not told."""
    _sessions: dict[str, _Session] = attrs.field(factory=dict)

    def follow(self, found: Iterable[Detected]) -> None:
        """Look at these sessions from here on, the newest of them where there are too many."""
        telling = [one for one in found if one.kept is not None and self._client(one.provider) is not None]
        telling.sort(key=lambda one: -one.last_active)
        before, self._sessions = self._sessions, {}
        for one in telling[:_FILES]:
            assert one.kept is not None  # noqa: S101 - chosen by that
            name = f"{one.provider}:{hashlib.sha256(one.kept.hit.path.encode()).hexdigest()[:16]}"
            size = before[name].size if name in before else _AGAIN
            self._sessions[name] = _Session(one.provider, one.account, one.kept, one.hubs, size)

    def look(self) -> tuple[Growth, ...]:
        """What the files have more than the ledger has counted. The answer to it is for `counted`."""
        found, left = [], _ALL
        for name, session in self._sessions.items():
            size = _size(session.kept.hit.path)
            if size is None or size == session.size or left <= 0:
                continue
            session.size = size
            growth = self._growth(name, session)
            if growth is not None:
                left -= min(MOST, growth.until - growth.since)
                found.append(growth)
        return tuple(found)

    def counted(self, growths: Iterable[Growth], places: Mapping[str, int] | None) -> None:
        """Where the ledger stands now; None = it did not answer, and is told once more."""
        self.places = places if places is not None else self.places
        for growth in growths:
            session = self._sessions[growth.session]
            done = places is not None and places.get(growth.session) == growth.until
            if not done:
                session.size = _AGAIN

    def _growth(self, name: str, session: _Session) -> Growth | None:
        """What the file has more in whole lines; None where that is nothing, or cannot be read."""
        since = (self.places or {}).get(name, UNSEEN)
        grown = partial(Growth, session.provider, session.account, name, since)
        hit = session.kept.hit
        try:
            with self.files.open(hit.root, hit.path, Limits()) as source:
                if session.own:
                    return grown(source.size) if since != source.size else None
                known = UNSEEN < since <= source.size
                start = since if known else max(0, source.size - MOST)
                data = source.at(start, min(MOST, source.size - start))
        except Unreadable:
            return None
        if start + len(data) < source.size:
            session.size = _AGAIN  # the rest is for the next look
        cut = data.rfind(b"\n") + 1 or len(data) // MOST * MOST
        lines = data[:cut].split(b"\n")[0 if known or not start else 1 :]
        used = tuple(answer for line in lines if (answer := self._used(session, line)) is not None)
        return grown(start + cut, used) if cut else None

    def _used(self, session: _Session, line: bytes) -> Used | None:
        client = self._client(session.provider)
        if client is None or client.spent_mark not in line:
            return None
        return client.spent(document(line), session.kept.session_id)

    def _client(self, provider: str) -> QuotaClient | None:
        client = self.clients(provider)
        return client if client is not None and client.spent_mark else None


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - the hot path
    except OSError:
        return None
