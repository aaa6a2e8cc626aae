"""A session's worktree: made, mended, filled.

Owns: the session's branch and worktree, the first commit that carries the user's unfinished work, and hub's kept
index of what was checked out.
Must not: touch the user's index, working tree or branch; remove a worktree or a file in one; run a hook or a
filter.

Each step leaves something that the next start recognises: the branch, the administrative directory, and last of
all the worktree's index. While there is no index the worktree was never handed to an agent, so filling it again
overwrites nobody's work.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import trio

from hub.errors import Code, HubError
from hub.io.git.aside import note_yours
from hub.io.git.env import effective_config, git
from hub.io.git.guard import Config, filter_overrides
from hub.io.git.identity import identity
from hub.io.git.layout import common_dir, find_admin, own_git_dir
from hub.io.git.refs import BASE, commit_of, kept_ref, move_refs, read_commits
from hub.io.git.scan import gather, scan
from hub.io.git.shadow import Shadow, base_tree, copy_index, open_shadow, scratch, seed_index, throwaway
from hub.io.git.store import CommitDraft, MovingError, apply, store_commit
from hub.io.git.view import note_index
from hub.io.project.places import Places, make_private_dir

_WORKERS = ("checkout.workers", "4")
_CHECKOUT_INDEX = "hub-index"
_ATTEMPTS = 3
_LARGE_INDEX = 1 << 18
_CLOCK_TICK = 0.01
_ADDING = trio.Lock()
"""Held while git adds one: it reads all others, and dies of one that another git has only begun to write."""


async def add_worktree(
    root: Path,
    path: Path,
    branch: str,
    base: str,
    *,
    carry_dirty: bool = False,
    first: str = "",
    apart: Sequence[str] = (),
) -> bool:
    """Makes the worktree of a session, or finishes what an earlier call began.

    Args:
        root: The project.
        path: Where; `.hub/worktrees/<session>`.
        branch: `hub/<session>`; made at `base` when it is not there, else taken as it is.
        base: The user's commit.
        carry_dirty: Whether uncommitted changes of the user's tree, untracked files included, come along as a
            first commit. The user's index and tree are only read.
        first: A commit on top of `base` that the branch begins at instead.
        apart: As for `carry`.

    Returns:
        Whether the branch is at another commit than the user's: at one with uncommitted work, or at `first`.

    Raises:
        HubError: NO_COMMIT, NOT_A_REPOSITORY, NO_SPACE, READ_ONLY, NO_PERMISSION, GIT_FAILED.
    """
    session_id = branch.removeprefix("hub/")
    kept = Places(root).kept_index(session_id)
    common = common_dir(root)
    start = await _base_commit(root, base)
    begin = (
        partial(carry, root, start, apart=apart)
        if carry_dirty
        else partial(_base_commit, root, first or start)
    )
    tip = await _ensure_branch(root, branch, session_id, start, begin)
    admin = find_admin(common, path)
    if admin is None:
        make_private_dir(path.parent)
        async with _ADDING:
            await git("worktree", "add", "--no-checkout", str(path), branch, cwd=root)
        admin = find_admin(common, path)
        if admin is None:
            raise HubError(Code.GIT_FAILED, f"git made no worktree at {path}.")
    whole = (admin / "index").is_file() and (path / ".git").exists()
    if not whole:
        _mend(admin, path, branch)
        await _fill(root, admin, path, kept, tip)
    elif not kept.is_file():
        shadow = await open_shadow(path, common, kept)
        await seed_index(shadow, tip)
    path.chmod(0o700)  # noqa: ASYNC240  # a few stats beside the starts of git
    return tip != start


async def _base_commit(root: Path, base: str) -> str:
    if sha := await commit_of(root, base or "HEAD"):
        return sha
    raise HubError(Code.NO_COMMIT, f"There is no commit {base or 'HEAD'} in {root}.")


async def _ensure_branch(
    root: Path, branch: str, session_id: str, start: str, begin: Callable[[], Awaitable[str]]
) -> str:
    """The branch's tip; makes the branch when it is not there."""
    full = f"refs/heads/{branch}"
    kept = kept_ref(session_id, BASE)
    zero = "0" * len(start)
    for _ in range(_ATTEMPTS):
        (tip,) = await read_commits([full], cwd=root)
        if tip is not None:
            return tip.sha
        first = await begin()
        (old,) = await read_commits([kept], cwd=root)
        moves = [(full, first, zero), (kept, first, old.sha if old else zero)]
        if await move_refs([m for m in moves if m[1] != m[2]], "hub: session began", cwd=root):
            return first
    raise HubError(Code.GIT_FAILED, f"The branch {branch} could not be made.")


async def carry(root: Path, base: str, project: Path | None = None, apart: Sequence[str] = ()) -> str:
    """A commit on top of `base` with the uncommitted work of a tree; `base` itself when there is none.

    Args:
        root: The tree. Its index and its files are only read.
        base: A commit.
        project: Where hub keeps its things, when the tree is another one of the project's repository.
        apart: Untracked paths that do not come along: no commit is to have them.
    """
    places = Places(project or root)
    make_private_dir(places.git_dir)
    own_index = own_git_dir(root) / "index"
    (commit,) = await read_commits([base], cwd=root)
    if commit is None:
        raise HubError(Code.NO_COMMIT, f"There is no commit {base} in {root}.")
    when, who = max(int(time.time()), commit.when), str(await identity(root))
    with throwaway(places.git_dir, "carry") as directory:
        shadow = await open_shadow(root, common_dir(root), directory / "index")
        if own_index.is_file():
            copy_index(own_index, shadow.index)
            await _settle_conflicts(shadow)
        else:
            await seed_index(shadow, commit.tree)
        note_yours(shadow.index, [os.fsencode(path) for path in apart])
        tree = await base_tree(shadow)
        for attempt in range(_ATTEMPTS):
            work = await gather(shadow, await scan(shadow))
            if not work.entries and tree == commit.tree:
                return base
            with contextlib.suppress(MovingError):
                draft = CommitDraft(tree, (base,), "work in progress\n", when, who)
                made = await store_commit(shadow, draft, work, settle=attempt == _ATTEMPTS - 1)
                return base if made.tree == commit.tree else made.commit
    raise HubError(Code.GIT_FAILED, f"{root} keeps changing while it is being copied.")


async def _settle_conflicts(shadow: Shadow) -> None:
    """Takes unmerged paths out of a copied index: what is in the tree is then found as untracked, and carried."""
    done = await git("ls-files", "-u", "-z", cwd=shadow.worktree, where=shadow.where)
    names = dict.fromkeys(line.partition(b"\t")[2] for line in done.out.split(b"\0")[:-1])
    if names:
        async with scratch(shadow, shadow.index) as spare:
            await apply(spare, dict.fromkeys(names))
            copy_index(spare.index, shadow.index)


def _mend(admin: Path, path: Path, branch: str) -> None:
    """Puts in place what `git worktree add` writes last, when it was killed before."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    dot_git = path / ".git"
    if not dot_git.exists():
        dot_git.write_text(f"gitdir: {admin}\n", encoding="utf-8")
    (admin / "commondir").write_text("../..\n", encoding="utf-8")
    (admin / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
    with contextlib.suppress(FileNotFoundError):
        (admin / "locked").unlink()  # git's own mark on a worktree it has not finished


async def _fill(root: Path, admin: Path, path: Path, kept: Path, tip: str) -> None:
    """Checks the branch out; the index comes last, and with it the worktree counts as whole."""
    index = admin / _CHECKOUT_INDEX
    for leftover in (index, admin / f"{_CHECKOUT_INDEX}.lock"):
        leftover.unlink(missing_ok=True)
    where = {"GIT_DIR": str(admin), "GIT_WORK_TREE": str(path), "GIT_INDEX_FILE": str(index)}
    config = (*filter_overrides(await effective_config(root)), _WORKERS)
    empty = {entry.name for entry in os.scandir(path)} <= {".git"}
    if empty:
        await git("read-tree", "-m", "-u", "HEAD", cwd=path, where=where, config=config)
    else:
        await git("read-tree", "HEAD", cwd=path, where=where, config=config)
        await git("checkout-index", "-a", "-f", "-u", "-q", cwd=path, where=where, config=config)
    if index.stat().st_size > _LARGE_INDEX:
        await _outlive_checkout(index, path, where, config)
    make_private_dir(kept.parent.parent)
    make_private_dir(kept.parent)
    shutil.rmtree(kept.with_name(f"{kept.name}.gitdir"), ignore_errors=True)
    shadow = await open_shadow(path, common_dir(root), kept)
    if (
        admin / "info" / "sparse-checkout"
    ).is_file():  # git would look at nothing that this keeps out of the tree
        await seed_index(shadow, tip)
    else:
        copy_index(index, kept)
    index.replace(admin / "index")
    note_index(shadow, admin / "index", await base_tree(shadow))


async def _outlive_checkout(index: Path, path: Path, where: Mapping[str, str], config: Config) -> None:
    """Writes the index again in a later second than the checkout's last.

    git compares whole seconds. Of a file written in the same second as the index it cannot tell from the stat
    data alone whether it changed since, and reads it again at every look. The kept index is never written again,
    so in a large tree every snapshot would read thousands of files that nobody touched.
    """
    written = int(index.stat().st_mtime)  # noqa: ASYNC240  # a few stats beside the starts of git
    while int(index.stat().st_mtime) == written:  # noqa: ASYNC240  # a few stats beside the starts of git
        await trio.sleep(max(0.0, written + 1 - time.time()) + _CLOCK_TICK)
        await git("update-index", "--force-write-index", cwd=path, where=where, config=config)
