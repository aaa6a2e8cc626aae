"""The files that tell agents how to work: in the project, and in the user's home.

Owns: the bounded walk that finds them.
Must not: follow a link, or say what is an instruction (`hub.domain.trust.instruction` does).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from hub.api.instructions import Instruction
from hub.domain.config.model import ProfileSettings
from hub.domain.trust.instruction import USER, InstructionKind, kind_of, title_of
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded
from hub.io.files.walk import entries

MAX_FILES = 500
"""Instructions told at most."""
MAX_ENTRIES = 100_000
"""Directory entries looked at, at most."""
MAX_DEPTH = 8
MAX_BYTES = 1 << 20
_NEVER = frozenset(
    {
        ".git", ".hub", ".hg", ".svn", ".venv", "venv", "node_modules", "vendor", "target", "dist", "build",
        "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".cache", "site-packages",
    }
)  # fmt: skip
"""Folders that hold what tools made, or other people's projects."""


def instructions(root: Path, home: Path, profiles: Iterable[ProfileSettings]) -> list[Instruction]:
    """What `GET /api/instructions` serves: of the project first, then of the user, then of the profiles.

    Args:
        root: The project's.
        home: The user's.
        profiles: Whose skills are told; one that a file holds is told with that file.
    """
    found: list[Instruction] = []
    for path in _walk(root):
        shown = _utf8(path)
        parent = shown.rpartition("/")[0]
        if kind := kind_of(path):
            _add(found, root / path, shown, kind, parent if _plain(parent) else "project")
    for pattern, kind in USER:
        for file in _matching(home, pattern.split("/")):
            _add(found, file, f"~/{_utf8(file.relative_to(home).as_posix())}", kind, "user")
    return [*found, *_of_profiles(profiles, found)]


def _utf8(path: str) -> str:
    """A name need not be UTF-8; an answer is."""
    return os.fsencode(path).decode("utf-8", "replace")


def _plain(parent: str) -> bool:
    """Whether an instruction there is for that folder, and not for the project."""
    return bool(parent) and not any(part.startswith(".") for part in parent.split("/"))


def _walk(root: Path) -> Iterator[str]:
    """Instruction files below `root`, relative; the upper ones first, by name."""
    room = MAX_ENTRIES
    level: list[str] = [""]
    for _ in range(MAX_DEPTH):
        below: list[str] = []
        for folder in level:
            for entry in _entries(root / folder):
                room -= 1
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _NEVER:
                        below.append(f"{path}/")
                elif kind_of(path):
                    yield path
                if not room:
                    return
        level = below


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    return sorted(entries(str(folder)), key=lambda entry: entry.name)


def _matching(folder: Path, pattern: list[str]) -> Iterator[Path]:
    """Files below `folder` by a path in which `*` is any name; no link is followed."""
    first, *rest = pattern
    names = sorted(entry.name for entry in _entries(folder)) if first == "*" else [first]
    for name in names:
        path = folder / name
        if path.is_symlink():
            continue
        if rest:
            yield from _matching(path, rest)
        elif path.is_file():
            yield path


def _add(found: list[Instruction], file: Path, shown: str, kind: InstructionKind, scope: str) -> None:
    if len(found) >= MAX_FILES:
        return
    try:
        data = read_bounded(file, MAX_BYTES)
    except (OSError, HubError) as error:
        if not isinstance(error, HubError) or error.code is not Code.TOO_LARGE:
            return  # a link, gone, or not ours to read: no agent is told by it
        data, size, digest = b"", file.lstat().st_size, ""
    else:
        size, digest = len(data), hashlib.sha256(data).hexdigest()
    title = title_of(data.decode("utf-8", "replace"), shown)
    found.append(Instruction(path=shown, kind=kind, title=title, scope=scope, bytes=size, sha256=digest))


def _of_profiles(profiles: Iterable[ProfileSettings], found: Iterable[Instruction]) -> list[Instruction]:
    skills = {entry.path.split("/")[-2]: entry for entry in found if entry.kind == "skill"}
    nothing = Instruction(path="", kind="skill", title="", scope="", bytes=0, sha256="")
    return [
        attrs.evolve(
            skills.get(name, nothing), title=name, kind="profile_skill", scope=f"profile:{profile.name}"
        )
        for profile in profiles
        for name in profile.skills
    ]
