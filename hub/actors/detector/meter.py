"""What agents spend that hub did not start: the new records of their sessions' files.

Owns: which files are looked at, and the reading of what they have more.
Must not: run on the event loop, count (the quota actor does), or read what hub's own agents spend: the event log has it.

A look is one stat for each file, and reads only what was appended. A session that was never seen is read from not far
before its end. Where the ledger stands is the ledger's to say: after each look it tells, and a look that it has not
counted is repeated.

Some sessions are not one file. A subagent's answers stand in a file of their own, which is found beside its session's. A
database is one place for all its sessions, and its place is a moment instead of a byte; rows that are made at the same
time may be seen one after the other, so the last minute is told again, and the ledger knows each answer by its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import attrs

from hub.domain.detection.detected import DetectedAgent, KeptSession, hubs_own
from hub.domain.detection.intel import Limits, Place, Unreadable
from hub.domain.quota.elsewhere import UNSEEN, Growth, Used
from hub.io.files.atomic import stamp_of
from hub.io.stores import StoreFiles
from hub.providers import jsonline
from hub.providers.quota import SpentStore

MOST = 4 * 1024 * 1024
"""Bytes that are read of one file at a time; no record that tells of tokens is as long."""
_ALL = 4 * MOST
"""Bytes that are read in one look; the rest waits for the next."""
_FILES = 64
_BESIDE = 128
"""Files of subagents, of all sessions: the newest."""
_OVERLAP_MS = 60_000
_DAY_MS = 86_400_000


@attrs.frozen
class _File:
    """A file with answers."""

    provider: str
    account: str
    path: str
    kept: KeptSession
    """The session it belongs to; of a database the newest."""
    own: bool
    """Whether hub runs it."""

    @property
    def name(self) -> str:
        return f"{self.provider}:{hashlib.sha256(self.path.encode()).hexdigest()[:16]}"


@attrs.define
class SessionMeter:
    """The sessions that are followed."""

    told: Callable[[str], SpentStore | None]
    """What an agent's sessions tell."""
    files: StoreFiles
    places: Mapping[str, int] | None = None
    """Up to where each file was counted; None while the ledger has not told."""
    _sessions: tuple[_File, ...] = ()
    _stamps: dict[str, object] = attrs.field(factory=dict)
    """Of each file as it was at the last look that was counted to its end."""

    def follow(self, found: Iterable[DetectedAgent]) -> None:
        """Look at these sessions from here on, the newest of them where there are too many."""
        files: dict[str, _File] = {}
        for one in sorted(found, key=lambda one: -one.last_active):
            known = self.told(one.provider)
            for kept in (one.kept, *one.parts):
                if known is not None and kept is not None and kept.hit.path.endswith(known.suffix):
                    path = kept.hit.path
                    files.setdefault(path, _File(one.provider, one.account, path, kept, one.hubs))
        self._sessions = tuple(files.values())[:_FILES]

    def look(self) -> tuple[Growth, ...]:
        """What the files have more than the ledger has counted. The answer to it is for `counted`."""
        found, left, before, self._stamps = [], _ALL, self._stamps, {}
        for file in (*self._sessions, *self._subagents()):
            name, stamp = file.name, _stamp(file.path)
            known = before.get(name)
            if known is not None:
                self._stamps[name] = known
            if stamp is None or stamp == known or left <= 0:
                continue
            self._stamps[name] = stamp
            growth = self._growth(name, file)
            if growth is not None:
                left -= min(MOST, growth.until - growth.since)
                found.append(growth)
        return tuple(found)

    def counted(self, growths: Iterable[Growth], places: Mapping[str, int] | None) -> None:
        """Where the ledger stands now; None = it did not answer, and is told once more."""
        self.places = places if places is not None else self.places
        for growth in growths:
            if places is None or places.get(growth.session) != growth.until:
                self._stamps.pop(growth.session, None)

    def _subagents(self) -> Iterator[_File]:
        """The files beside those of the sessions."""
        found = []
        for one in self._sessions:
            known = self.told(one.provider)
            if known is not None and known.beside:
                place = Place(f"{one.path.removesuffix(known.suffix)}/{known.beside}", (f"*{known.suffix}",))
                found += [(each.mtime_ns, each.path, one) for each in self.files.walk(place, 0)]
        for _, path, one in sorted(found, key=lambda each: -each[0])[:_BESIDE]:
            yield attrs.evolve(one, path=path)

    def _growth(self, name: str, file: _File) -> Growth | None:
        """What the file has more; None where that is nothing, or cannot be read."""
        known = self.told(file.provider)
        assert known is not None  # noqa: S101 - chosen by that
        try:
            return (
                self._steps(name, file, known) if known.rows is not None else self._lines(name, file, known)
            )
        except Unreadable:
            return None

    def _lines(self, name: str, file: _File, told: SpentStore) -> Growth | None:
        """Whole lines only.

        Raises:
            Unreadable: It is gone, or no regular file.
        """
        since = (self.places or {}).get(name, UNSEEN)
        grown = partial(Growth, file.provider, file.account, name, since)
        with self.files.open(file.kept.hit.root, file.path, Limits()) as source:
            if file.own:
                return grown(source.size) if since != source.size else None
            known = UNSEEN < since <= source.size
            start = since if known else max(0, source.size - MOST)
            data = source.at(start, min(MOST, source.size - start))
        if start + len(data) < source.size:
            self._stamps.pop(name)  # the rest is for the next look
        cut = data.rfind(b"\n") + 1 or len(data) // MOST * MOST
        lines = [
            line for line in data[:cut].split(b"\n")[0 if known or not start else 1 :] if told.mark in line
        ]
        session = file.kept.session_id
        used = tuple(
            one for line in lines if (one := told.answer(jsonline.read(line) or {}, session)) is not None
        )
        return grown(start + cut, used) if cut else None

    def _steps(self, name: str, file: _File, told: SpentStore) -> Growth | None:
        """The steps of every session but hub's own.

        Raises:
            Unreadable: It cannot be read now.
        """
        assert told.rows is not None  # noqa: S101 - asked before
        since = (self.places or {}).get(name, UNSEEN)
        day = file.kept.hit.mtime_ns // 1_000_000 - _DAY_MS
        with self.files.database(file.kept.hit.root, file.path, Limits()) as database:
            steps = told.rows(database, max(0, day, since - _OVERLAP_MS))
        used: tuple[Used, ...] = tuple(step.used for step in steps if not hubs_own(step.folder))
        until = max((step.at_ms for step in steps), default=max(0, since))
        return Growth(file.provider, file.account, name, since, until, used)


def _stamp(path: str) -> object:
    """What changes when it grows; of a database also with a row. None where it is gone."""
    known = stamp_of(Path(path))
    return (known, stamp_of(Path(f"{path}-wal"))) if path.endswith(".db") and known else known
