"""A session's worktree and branch, taken away.

Owns: whether anything in them is in nobody's hands yet, and the order in which they go.
Must not: touch anything but what hub made for that session. Its snapshots stay: `hub rewind` brings each of them back.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

import attrs
import trio

from hub.api.history import HistoryEntry
from hub.api.results import Discarded
from hub.domain.result.fate import TAKES
from hub.domain.text.safe import clean
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.atomic import coded_errors
from hub.io.git.env import git
from hub.io.git.layout import check_worktree, common_dir, find_admin
from hub.io.git.refs import (
    BASE,
    DISCARDED,
    KEPT,
    TAKEN,
    branch_of,
    is_ancestor,
    kept_ref,
    move_refs,
    put_kept,
    read_commits,
)
from hub.io.git.scan import gather, in_submodules, scan
from hub.io.git.store import would_be
from hub.io.git.view import open_ground, tracked_paths
from hub.io.git.work import IN_HAND
from hub.io.project.places import Places

_SHORT = 12
_NO_SUCH_COMMIT = 129
_GOING = ".going"
"""What the folder is called while it goes."""


class Hands(StrEnum):
    """In whose hands a session's work is."""

    GONE = "gone"
    """Neither branch nor worktree is there."""
    NOTHING = "nothing"
    """Nothing was changed."""
    TAKEN = "taken"
    MERGED = "merged"
    """A branch of the user's own has its commits, or one that was made of them."""
    UNTAKEN = "untaken"
    EDITED = "edited"
    """All but what its worktree has and no snapshot: `hub take` does not bring that."""

    @property
    def lost(self) -> bool:
        """Whether something would be in nobody's hands if it went."""
        return self in (Hands.UNTAKEN, Hands.EDITED)


@attrs.frozen
class Left:
    """What is left of a session."""

    hands: Hands
    tip: str
    """Where its branch is; "" = there is none."""
    here: bool
    """Whether the commit that the user stands on has its work."""


async def left_of(root: Path, session_id: str) -> Left:
    """What is left of a session, and whether its work is in the user's hands."""
    names = [f"refs/heads/{branch_of(session_id)}", kept_ref(session_id, BASE), "HEAD"]
    tip, start, head = await read_commits(names, cwd=root)
    worktree = Places(root).worktree(session_id)
    if tip is None:
        there = _there(worktree)
        return Left(Hands.UNTAKEN if there else Hands.GONE, "", here=False)

    if start is not None and start.tree == tip.tree:
        hands, here = Hands.NOTHING, True
    else:
        hands, here = await _hands(root, session_id, tip.sha, head.sha if head is not None else "")
    if not hands.lost and await edited(root, worktree, tip.tree):
        return Left(Hands.EDITED, tip.sha, here=False)
    return Left(hands, tip.sha, here=here)


async def _hands(root: Path, session_id: str, tip: str, head: str) -> tuple[Hands, bool]:
    """In whose hands what a branch has is, and whether the commit that the user stands on has it."""
    own, found = kept_ref(session_id, TAKEN), Hands.UNTAKEN
    for mark, sha in await _takes_of(root, tip):
        hands = Hands.TAKEN if mark.endswith(f"/{TAKEN}") else Hands.MERGED
        if head and await is_ancestor(sha, head, cwd=root):
            return hands, True
        # What was taken of a session that went on with it is his as long as he keeps that.
        if found is Hands.UNTAKEN and (mark == own or await _on_a_branch(root, sha)):
            found = hands
    if head and await is_ancestor(tip, head, cwd=root):
        return Hands.MERGED, True
    if found is Hands.UNTAKEN and await _on_a_branch(root, tip):
        found = Hands.MERGED
    return found, False


async def _takes_of(root: Path, sha: str) -> list[tuple[str, str]]:
    """The marks of a take that has the work up to here, and its commit: of its session, or of one that went on with it."""
    found: list[tuple[str, str]] = []
    for mark, commit in IN_HAND:
        options = ("--format=%(refname)", f"--contains={sha}", f"{KEPT}/*/{mark}")
        marks = (await git("for-each-ref", *options, cwd=root)).text.splitlines()
        takes = await read_commits([name.removesuffix(mark) + commit for name in marks], cwd=root)
        found += [(name, take.sha) for name, take in zip(marks, takes, strict=True) if take is not None]
    return found


async def _on_a_branch(root: Path, sha: str) -> bool:
    """Whether a branch that is not hub's, here or pushed, has the commit."""
    return bool(await _branches_with(root, sha))


async def _branches_with(root: Path, sha: str) -> list[str]:
    """The short names of the branches that are not hub's, here or pushed, and have the commit; none has one that is gone."""
    options = ("--format=%(refname)", f"--contains={sha}", "refs/heads/", "refs/remotes/")
    listed = await git("for-each-ref", *options, cwd=root, accept=(0, _NO_SUCH_COMMIT))
    own = (name for name in listed.text.splitlines() if not name.startswith("refs/heads/hub/"))
    return [clean(name.split("/", 2)[2]) for name in own]


async def looked_after(root: Path, found: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Records of takes, from the newest back to one that holds, with a branch that has its commit: git may undo one."""
    told = list(found)
    for at in [at for at, one in enumerate(told) if one.commit][: -TAKES - 1 : -1]:
        try:
            branches = await _branches_with(root, told[at].commit)
        except HubError:  # the log is believed
            break
        held_by = told[at].branch if told[at].branch in branches else next(iter(branches), "")
        told[at] = attrs.evolve(told[at], held_by=held_by)
        if held_by:
            break
    return told


def _there(path: Path) -> bool:
    return os.path.lexists(path)


async def edited(root: Path, worktree: Path, tree: str) -> bool:
    """Whether the worktree has what `tree`, its branch's, has not: somebody went on in it, or no snapshot could be made."""
    if not _there(worktree):
        return False
    admin = find_admin(common_dir(root), worktree)
    if admin is not None and (admin / "modules").is_dir():
        return True  # submodules were filled here: their commits are nowhere else
    try:
        ground = await open_ground(worktree, root)
        work = await gather(ground.shadow, await scan(ground.shadow), await tracked_paths(ground))
        if work.unstored or await in_submodules(ground.shadow):
            return True  # and it is in no tree
        return await would_be(ground.shadow, work.entries) != tree
    except HubError as error:
        return error.code not in (Code.WORKTREE_MISSING, Code.BRANCH_MISSING)


async def discard(root: Path, session_id: str, *, force: bool = False) -> Discarded:
    """Take a session's worktree and branch away. A call that was cut off is finished by the next one.

    Raises:
        HubError: NOT_TAKEN without `force`; UNCOMMITTED where the branch is checked out elsewhere; GIT_FAILED.
    """
    left = await left_of(root, session_id)
    places, branch = Places(root), branch_of(session_id)
    worktree = places.worktree(session_id)
    if left.hands.lost and not force:
        detail, step = (
            (
                "The worktree of {} has more than its snapshots.",
                f"Look there, and copy what you want: {worktree}",
            )
            if left.hands is Hands.EDITED
            else ("The result of {} was not taken yet.", f"Take it: hub take {session_id}")
        )
        raise HubError(
            Code.NOT_TAKEN,
            detail.format(session_id),
            hint=f"{step}   Or let it go: hub discard {session_id} --force",
        )
    await _insist_nowhere_else(root, worktree, branch)
    if left.tip:
        # Where the branch was, for whoever looks back: on record before anything goes.
        await put_kept(root, session_id, DISCARDED, left.tip)
    failpoints.hit("discard.intended")
    await _remove_worktree(root, worktree)
    failpoints.hit("discard.worktree")
    if left.tip:
        zero = "0" * len(left.tip)
        if not await move_refs([(f"refs/heads/{branch}", zero, left.tip)], "hub: discard", cwd=root):
            raise HubError(Code.GIT_FAILED, f"{branch} moved just now.", hint="Try again.")
    await trio.to_thread.run_sync(_forget, places.kept_index(session_id))
    return Discarded(
        session_id=session_id,
        branch=branch,
        worktree=str(worktree),
        tip=left.tip[:_SHORT],
    )


async def _insist_nowhere_else(root: Path, worktree: Path, branch: str) -> None:
    """A branch that the user has checked out is his to leave first."""
    done = await git("worktree", "list", "--porcelain", cwd=root)
    for block in done.text.split("\n\n"):
        lines = dict(line.partition(" ")[::2] for line in block.splitlines())
        place = lines.get("worktree", "")
        if lines.get("branch") == f"refs/heads/{branch}" and Path(place) != worktree:
            raise HubError(
                Code.UNCOMMITTED,
                f"{branch} is checked out in {place}.",
                hint=f"Leave it first: git -C {place} switch <another branch>",
            )


async def _remove_worktree(root: Path, worktree: Path) -> None:
    """The folder and git's record of it; only if it is the one that hub made."""
    admin = find_admin(common_dir(root), worktree)
    gone = worktree.with_name(f"{worktree.name}{_GOING}")
    if _there(worktree):
        check_worktree(root, worktree)
        _set_aside(worktree, gone)
        failpoints.hit("discard.renamed")
    await trio.to_thread.run_sync(_remove, [gone, *([admin] if admin is not None else [])])


def _set_aside(worktree: Path, gone: Path) -> None:
    """From here on nobody takes it for a worktree."""
    with coded_errors(worktree):
        worktree.rename(gone)


def _remove(folders: list[Path]) -> None:
    """What is locked against writing is in the way of nobody who may write it open.

    Raises:
        HubError: NO_PERMISSION...
    """

    def open_up(function: Callable[[str], object], path: str, _: object) -> None:
        for one in (Path(path).parent, Path(path)):
            if one.is_dir() and not one.is_symlink():
                one.chmod(0o700)
        if function in (os.unlink, os.rmdir):
            function(path)
        else:  # it could not be entered
            shutil.rmtree(path)

    for folder in folders:
        with coded_errors(folder), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder, onerror=open_up)


def _forget(index: Path) -> None:
    """Hub's own index of the worktree, and the git directory beside it."""
    shutil.rmtree(index.with_name(f"{index.name}.gitdir"), ignore_errors=True)
    index.unlink(missing_ok=True)
