"""Whether anything may have changed below some folders, for the price of a few stats.

Owns: which paths are looked at, and their stamps.
Must not: read a file or list a folder: who is told of a change does that.

A new session is a new file, and so a newer folder; one in a database makes that file, or its log, newer. A change that
this cannot see (a folder made deep below one that is not watched) is found by the full walk that its user makes from
time to time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import attrs

from hub.domain.detection.intel import Place, StoreHit

MOST = 64
"""Paths that are looked at."""
_DATABASES = (".db", ".sqlite", ".vscdb")


@attrs.define
class Repoll:
    """Stamps of paths, as they were at the last look."""

    _stamps: dict[str, tuple[int, int] | None] = attrs.field(factory=dict)

    def watch(self, paths: Iterable[str]) -> None:
        """Look at these from here on, the first ones where there are too many; what is known of a path stays."""
        wanted = list(dict.fromkeys(paths))[:MOST]
        self._stamps = {path: self._stamps[path] if path in self._stamps else _stamp(path) for path in wanted}

    def changed(self) -> bool:
        """Whether a path is another than at the last look."""
        found = {path: _stamp(path) for path in self._stamps}
        changed = found != self._stamps
        self._stamps = found
        return changed


def watched(places: Iterable[Place], hits: Iterable[StoreHit]) -> Iterator[str]:
    """What tells of a new session: the folders of the newest ones, up to their place's own, and databases."""
    for hit in hits:
        if hit.path.endswith(_DATABASES):
            yield f"{hit.path}-wal"
            yield hit.path
        folder = os.path.dirname(hit.path)  # noqa: PTH120  # text only
        while len(folder) > len(hit.root) and folder.startswith(hit.root):
            yield folder
            folder = os.path.dirname(folder)  # noqa: PTH120  # as above
    for place in places:
        yield place.root


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # the hot path
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
