"""Where an agent keeps its sessions, as a line of its module.

Owns: the usual shapes: folders below one that a variable may move, and a session named by its file or its folder.
Must not: open a file, or know any one agent.
Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.detection.intel import FoundFile, Place
from hub.domain.detection.processes import Signature
from hub.providers.homes import home_of
from hub.providers.store import Name, Where, parent, stem

Pattern = tuple[str, ...]


def at(variable: str, usual: str, *patterns: Pattern, below: str = "") -> Where:
    """These patterns below a folder of the user's home, or below the one that the variable names; there, in `below`."""

    def where(home: str, env: Mapping[str, str], _folders: Sequence[str] = ()) -> Sequence[Place]:
        root = home_of(home, env, variable, usual, below) if variable else f"{home}/{usual}"
        return [Place(root, pattern) for pattern in patterns]

    return where


def kept_by(signature: Signature, *patterns: Pattern) -> Where:
    """These patterns below the folder in which an agent of this signature keeps its sessions."""
    return at(signature.home, signature.default_home, *patterns, below=signature.below)


def named(up: int = 0, after: str = "") -> Name:
    """A session that has the name of its file, or of the folder so many steps above it; of that what is after a mark."""

    def name(found: FoundFile) -> str:
        whole = parent(found.path, up) if up else stem(found.path)
        return whole.rpartition(after)[2] if after else whole

    return name
