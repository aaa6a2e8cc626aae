"""Which working tree of git a folder lies in, and of which repository that is.

Owns: following the pointers that git itself follows: a `.git` that is a file, and `commondir`.
Must not: run git.
Tests: tests/hub/io/git/test_worktree.py, tests/hub/actors/detector/test_adopting.py
"""

from __future__ import annotations

import os

_LIMIT = 8192
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def tree_of(folder: str) -> str:
    """The root of the working tree that a folder lies in; "" when in none."""
    place = folder.rstrip("/") or "/"
    while not os.path.exists(f"{place.rstrip('/')}/.git"):
        place, before = os.path.dirname(place), place
        if place in ("", before):
            return ""
    return place


def common_dir(tree: str) -> str:
    """The common directory of the repository with this working tree, links resolved.

    Raises:
        OSError: A pointer cannot be read.
        ValueError: It is no working tree, or a pointer is none.
    """
    git_dir = own_git_dir(tree)
    pointer = f"{git_dir}/commondir"
    if os.path.isfile(pointer):
        return os.path.realpath(os.path.join(git_dir, _pointer(pointer)))
    return os.path.realpath(git_dir)


def own_git_dir(tree: str) -> str:
    """The directory with the HEAD and the index of the working tree.

    Raises:
        OSError: As `common_dir`.
        ValueError: As `common_dir`.
    """
    dot_git = f"{tree.rstrip('/')}/.git"
    if os.path.isdir(dot_git):
        return dot_git
    text = _pointer(dot_git)
    if not text.startswith("gitdir: "):
        raise ValueError(f"{dot_git} points nowhere")
    return os.path.realpath(os.path.join(tree, text.removeprefix("gitdir: ")))


def same_repository(one: str, other: str) -> bool:
    """Whether the folder `one` is in the tree `other`, or in another working tree of its repository."""
    tree = tree_of(one)
    try:
        return bool(tree) and common_dir(tree) == common_dir(other)
    except (OSError, ValueError):
        return False


def _pointer(path: str) -> str:
    fd = os.open(path, _FILE)
    try:
        data = os.read(fd, _LIMIT + 1)
    finally:
        os.close(fd)
    if len(data) > _LIMIT:
        raise ValueError(f"{path} is too long for a pointer")
    return data.decode("utf-8", "surrogateescape").rstrip("\n")
