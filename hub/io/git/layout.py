"""Where git keeps what belongs to a working tree, found without asking git.

Owns: reading the pointers between a worktree, its administrative directory and the common directory, which tree a
folder lies in, and the judgement whether a session's worktree is still the one hub made.
Must not: run git, or follow a pointer that an agent may have changed without checking it against its counterpart.
Tests: tests/hub/io/git/test_snapshot.py, tests/hub/io/git/test_worktree.py, tests/hub/actors/detector/test_adopting.py
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded

_LIMIT = 8192
_HEAD = re.compile(r"ref: *refs/.*|[0-9a-f]{40,64}")
"""As git wants it: without one it says that there is no repository."""


@attrs.frozen
class Linked:
    """A worktree and the directories that belong to it."""

    worktree: Path
    admin: Path
    """Its own HEAD, index and logs."""
    common: Path
    """The repository's objects, refs and configuration."""

    @property
    def where(self) -> dict[str, str]:
        """The environment that names its repository, whatever its `.git` says."""
        return {"GIT_DIR": str(self.admin)}


def tree_of(folder: str) -> str:
    """The root of the working tree that a folder lies in; "" when in none."""
    place = folder.rstrip("/") or "/"
    while not os.path.exists(f"{place.rstrip('/')}/.git"):
        place, before = os.path.dirname(place), place
        if place in ("", before):
            return ""
    return place


def same_repository(one: str, other: str) -> bool:
    """Whether the folder `one` is in the tree `other`, or in another working tree of its repository."""
    tree = tree_of(one)
    try:
        return bool(tree) and common_dir(Path(tree)) == common_dir(Path(other))
    except HubError:
        return False


def common_dir(root: Path) -> Path:
    """The common directory of the repository whose working tree is `root`, links resolved.

    Raises:
        HubError: NOT_A_REPOSITORY.
    """
    git_dir = own_git_dir(root)
    pointer = git_dir / "commondir"
    return Path(os.path.realpath(git_dir / (_followed(pointer, root) if os.path.isfile(pointer) else "")))


def barred(root: Path) -> list[Path]:
    """Where git must write for a session, and may not.

    Raises:
        HubError: NOT_A_REPOSITORY.
    """
    common = common_dir(root)
    places = (common, *(common / name for name in ("objects", "refs", "refs/heads")))
    return [place for place in places if place.exists() and not os.access(place, os.W_OK)]


def own_git_dir(root: Path) -> Path:
    """The directory that holds the HEAD and the index of the working tree `root`.

    Raises:
        HubError: NOT_A_REPOSITORY.
    """
    dot_git = root / ".git"
    if os.path.isdir(dot_git):
        return dot_git
    text = _followed(dot_git, root)
    if not text.startswith("gitdir: "):
        raise _no_tree(root)
    return Path(os.path.realpath(root / text.removeprefix("gitdir: ")))


def _followed(pointer: Path, root: Path) -> str:
    try:
        return _pointer(pointer)
    except (OSError, HubError, ValueError):
        raise _no_tree(root) from None


def _no_tree(root: Path) -> HubError:
    return HubError(Code.NOT_A_REPOSITORY, f"{root} is not a git repository with a working tree.")


def find_admin(common: Path, worktree: Path) -> Path | None:
    """The administrative directory that the repository holds for `worktree`, found from the repository's side."""
    expected = worktree.parent.resolve() / worktree.name / ".git"
    for pointer in sorted((common / "worktrees").glob("*/gitdir")):
        try:
            target = Path(_pointer(pointer))
        except (OSError, HubError):
            continue
        full = target if target.is_absolute() else pointer.parent / target
        if full.parent.parent.resolve() / full.parent.name / full.name == expected:
            return pointer.parent
    return None


def check_worktree(root: Path, worktree: Path) -> Linked:
    """The worktree's directories, when it is the one hub made.

    Raises:
        HubError: WORKTREE_MISSING when it is gone; WORKTREE_TAMPERED when it, its `.git` file or the repository's
            record of it is not what hub left there.
    """
    common = common_dir(root)
    try:
        mode = worktree.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise HubError(Code.WORKTREE_MISSING, f"The worktree {worktree} is gone.") from None
    if not stat.S_ISDIR(mode):
        raise _tampered(worktree, "it is not a directory any more")
    admin = find_admin(common, worktree)
    if admin is None:
        raise _tampered(worktree, "the repository does not know it any more")
    try:
        text = _pointer(worktree / ".git")
        back = (admin / _pointer(admin / "commondir")).resolve()
        head = _pointer(admin / "HEAD")
    except FileNotFoundError as error:
        raise _tampered(worktree, f"{error.filename} is gone") from error
    except (OSError, HubError) as error:
        raise _tampered(worktree, "its .git is not the file hub made") from error
    if (
        not text.startswith("gitdir: ")
        or (worktree / text.removeprefix("gitdir: ")).resolve() != admin.resolve()
    ):
        raise _tampered(worktree, f"its .git says {text!r}, not {str(admin)!r}")
    if not _HEAD.fullmatch(head):
        raise _tampered(worktree, "its HEAD names neither a branch nor a commit")
    if back != common:
        raise _tampered(worktree, "its record points to another repository")
    return Linked(worktree, admin, common)


def _pointer(path: Path) -> str:
    text = read_bounded(path, _LIMIT).decode("utf-8", "surrogateescape").rstrip("\n")
    if "\0" in text:
        raise HubError(Code.NOT_A_REPOSITORY, f"{path} points to what is no path.")
    return text


def _tampered(worktree: Path, why: str) -> HubError:
    return HubError(Code.WORKTREE_TAMPERED, f"The worktree {worktree} was tampered with: {why}.")
