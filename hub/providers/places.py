"""Where an agent keeps its sessions, as a line of its module.

Owns: the usual shapes: folders below one that a variable may move, and a session named by its file or its folder.
Must not: open a file, or know any one agent.
Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.detection.intel import FoundFile, Place, StoreHit
from hub.providers.records import data_home, home_of
from hub.providers.store import Name, Where, parent, stem

Pattern = tuple[str, ...]


def at(usual: str, *patterns: Pattern, moved_by: str = "", kind: str = "") -> Where:
    """These patterns below a folder of the user's home, or below the one that the variable names."""

    def where(home: str, env: Mapping[str, str]) -> Sequence[Place]:
        root = home_of(home, env, moved_by, usual) if moved_by else f"{home}/{usual}"
        return [Place(root, pattern, kind) for pattern in patterns]

    return where


def in_data(folder: str, *patterns: Pattern) -> Where:
    """These patterns below a program's folder of data, by the XDG rules."""

    def where(home: str, env: Mapping[str, str]) -> Sequence[Place]:
        return [Place(f"{data_home(home, env)}/{folder}", pattern) for pattern in patterns]

    return where


def either(*ways: Where) -> Where:
    """All of these places."""

    def where(home: str, env: Mapping[str, str]) -> Sequence[Place]:
        return [place for way in ways for place in way(home, env)]

    return where


def named(provider: str, up: int = 0, after: str = "") -> Name:
    """A session that has the name of its file, or of the folder so many steps above it; of that what is after a mark."""

    def name(found: FoundFile, place: Place) -> StoreHit:
        whole = parent(found.path, up) if up else stem(found.path)
        return StoreHit(
            provider=provider,
            path=found.path,
            session_id=whole.rpartition(after)[2] if after else whole,
            mtime_ns=found.mtime_ns,
            root=place.root,
            kind=place.kind,
        )

    return name
