"""What lies in a session's worktree and is not its agent's work.

Owns: the note of it: files that the acceptance commands left behind, by their content, and files of the user's that were
put there for the agent.
Must not: touch the worktree, or set a file aside that the agent has put under git's care or changed since, but for the
user's own.
Tests: tests/hub/io/git/test_aside.py
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import attrs

from hub.io.files.atomic import read_bounded, write_atomic

LEFT = "an acceptance command left it behind; it stays in the worktree"
MOST = 1000
"""Paths that are noted; of more nobody could tell what an agent did not mean to hand in."""
_NAME = "aside"
_LIMIT = 4 << 20


@attrs.frozen
class Aside:
    """Paths below the worktree."""

    left: Mapping[bytes, str] = attrs.field(factory=dict)
    """With the id of the content that was left."""
    yours: frozenset[bytes] = frozenset()
    made: frozenset[bytes] = frozenset()
    """Names at the top that the setup of the worktree has made: like what git ignores, unless the agent tracks it."""

    def holds(self, path: bytes) -> bool:
        """Whether a path is the user's own, or lies in a folder that is."""
        return any(path == one or path.startswith(one + b"/") for one in self.yours)

    def built(self, path: bytes) -> bool:
        """Whether it came with the setup."""
        return path.partition(b"/")[0] in self.made


def read(index: Path) -> Aside:
    """What is noted beside the kept index of a worktree."""
    with contextlib.suppress(FileNotFoundError):
        marks = read_bounded(index.with_name(_NAME), _LIMIT).split(b"\0")
        left = (mark[1:].partition(b" ") for mark in marks if mark[:1] == b"L")
        return Aside(
            {path: oid.decode("ascii") for oid, _, path in left},
            *(frozenset(mark[1:] for mark in marks if mark[:1] == kind) for kind in (b"Y", b"M")),
        )
    return Aside()


def note_left(index: Path, before: Mapping[bytes, str], after: Mapping[bytes, str]) -> None:
    """Note what the commands have left: what is new, and what they left before and the agent has not changed since.

    Args:
        index: The kept index of the worktree.
        before: The new files that were there before them, with the ids of their content.
        after: The same now.
    """
    known = read(index)

    def still(path: bytes, oid: str) -> bool:
        return path in known.left and (before[path] == known.left[path] or before[path] != oid)

    left = {path: oid for path, oid in after.items() if path not in before or still(path, oid)}
    _write(index, known, attrs.evolve(known, left=left if len(left) <= MOST else {}))


def note_yours(index: Path, paths: Iterable[bytes]) -> None:
    """Note files and folders of the user's that were put into the worktree; durable when this returns."""
    known = read(index)
    _write(index, known, attrs.evolve(known, yours=known.yours | frozenset(paths)))


def note_made(
    index: Path, before: Mapping[bytes, str], after: Mapping[bytes, str], tops: Collection[bytes]
) -> None:
    """Note what the setup has made: whole, what is new at the top; else as what commands leave.

    Args:
        index: The kept index of the worktree.
        before: As for `note_left`.
        after: As for `note_left`.
        tops: What was at the top before.
    """
    known = read(index)
    new = {path: oid for path, oid in after.items() if path not in before}
    made = {top for path in new if (top := path.partition(b"/")[0]) not in tops}
    left = {path: oid for path, oid in new.items() if path.partition(b"/")[0] not in made}
    both = {**known.left, **left}
    new_note = attrs.evolve(known, made=known.made | made, left=both if len(both) <= MOST else known.left)
    _write(index, known, new_note)


def _write(index: Path, known: Aside, new: Aside) -> None:
    if new != known:
        marks = [
            *(b"L%b %b" % (oid.encode("ascii"), path) for path, oid in new.left.items()),
            *(b"Y" + path for path in new.yours),
            *(b"M" + path for path in new.made),
        ]
        write_atomic(index.with_name(_NAME), b"\0".join(sorted(marks)))
