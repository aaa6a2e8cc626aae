"""Files of the user's own that a worktree is given.

Owns: copying and linking them, whole or not at all.
Must not: follow a link, overwrite what is in the worktree, or change a file of the user's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import attrs

from hub.io.files.atomic import coded_errors

_HALF = ".hub-half"


@attrs.frozen
class Brought:
    """What became of the paths."""

    copied: tuple[str, ...]
    linked: tuple[str, ...]
    missing: tuple[str, ...]
    """The user has none of that name, or a folder above it is a link: it would lead out of its place."""
    there: tuple[str, ...]
    """The worktree has it already, for git tracks it."""


def bring(
    root: Path, worktree: Path, copy: Sequence[str], link: Sequence[str], *, again: frozenset[str]
) -> Brought:
    """Give the worktree what is named; a second call finishes the first. Blocking.

    Args:
        root: The user's own folder.
        worktree: Where to.
        copy: Paths below it.
        link: The same, for links.
        again: Those that an earlier call has brought.

    Raises:
        HubError: NO_SPACE, NO_PERMISSION...
    """
    copied, linked, missing, there = list[str](), list[str](), list[str](), list[str]()
    for path, done in (*((one, copied) for one in copy), *((one, linked) for one in link)):
        source, target = root / path, worktree / path
        if _leads_away(root, source) or _leads_away(worktree, target):
            missing.append(path)
        elif os.path.lexists(target):
            (done if path in again else there).append(path)
        elif not os.path.lexists(source):
            missing.append(path)
        else:
            with coded_errors(target):
                _put(source, target, link=done is linked)
            done.append(path)
    return Brought(tuple(copied), tuple(linked), tuple(missing), tuple(there))


def _leads_away(top: Path, path: Path) -> bool:
    """Whether a folder between the two is a link."""
    return any(folder.is_symlink() for folder in path.parents if folder != top and folder.is_relative_to(top))


def _put(source: Path, target: Path, *, link: bool) -> None:
    half = target.with_name(f"{target.name}{_HALF}")
    target.parent.mkdir(parents=True, exist_ok=True)
    if half.is_dir() and not half.is_symlink():
        shutil.rmtree(half)
    half.unlink(missing_ok=True)
    if link:
        half.symlink_to(source)
    elif source.is_dir() and not source.is_symlink():
        shutil.copytree(source, half, symlinks=True)
    else:
        shutil.copy2(source, half, follow_symlinks=False)
    half.rename(target)
