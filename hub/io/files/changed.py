"""Whether anything may have changed below some folders, for the price of a few stats.

Owns: which paths are looked at, and their stamps.
Must not: read a file or list a folder: who is told of a change does that.

A new session is a new file, and so a newer folder; one in a database makes that file, or its log, newer; one whose first
prompt is still to come grows. A change that this cannot see (a folder made deep below one that is not watched) is found
by the full walk that its user makes from time to time.

Two changes may hide each other. What is written between a search and the stamp that is taken after it was not found by
the one and is in the other: so a path that is new here counts as changed at the next look. And a folder that changes
twice within a tick of its clock has one stamp for both: so a stamp that is still that young is none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from hub.domain.detection.intel import Place, StoreHit

MOST = 64
"""Paths that are looked at."""
MOST_AWAITED = 256
"""Those among which something is to come: folders are many, and each is one stat."""
_DATABASES = (".db", ".sqlite", ".vscdb")
_TICK_NS = 50_000_000
"""More than any local file system's clock is coarse."""
_UNKNOWN = (-1, -1)


class Repoll:
    """Stamps of paths, as they were at the last look."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[int, int] | None] = {}

    def watch(self, paths: Iterable[str], awaited: Iterable[str] = ()) -> None:
        """Look at these from here on, the first ones where there are too many; what is known of a path stays.

        Args:
            paths: What tells of a new session.
            awaited: What tells more of an agent that runs and has not begun anything yet.
        """
        wanted = (*islice(dict.fromkeys(awaited), MOST_AWAITED), *islice(dict.fromkeys(paths), MOST))
        self._stamps = {path: self._stamps.get(path, _UNKNOWN) for path in wanted}

    def changed(self) -> bool:
        """Whether a path is another than at the last look."""
        now = time.time_ns()
        found = {path: _stamp(path, now) for path in self._stamps}
        changed = found != self._stamps or _UNKNOWN in found.values()
        self._stamps = found
        return changed


def watched(places: Iterable[Place], hits: Iterable[StoreHit]) -> Iterator[str]:
    """What tells of a new session: the folders of the newest ones, up to their place's own, and databases."""
    for hit in hits:
        yield from database(hit.path)
        folder = os.path.dirname(hit.path)
        while len(folder) > len(hit.root) and folder.startswith(hit.root):
            yield folder
            folder = os.path.dirname(folder)
    for place in places:
        yield place.root


def database(path: str) -> tuple[str, ...]:
    """What gets newer when a row is written to this file; () where it is no database."""
    return (f"{path}-wal", path) if path.endswith(_DATABASES) else ()


def _stamp(path: str, now: int) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if abs(now - found.st_mtime_ns) < _TICK_NS:
        return _UNKNOWN
    return found.st_mtime_ns, found.st_size
