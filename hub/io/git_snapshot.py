"""A session's work as a commit, by plumbing alone.

Owns: the snapshot: its tree, its parents, its refs, and bringing the agent's own index in line with it.
Must not: change a file of the worktree, move HEAD to another branch, drop anything the agent had staged, or run
what the agent planted.

See `design/decisions/0003-snapshots-by-plumbing.md` for why not `git add` and `git commit`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import attrs
import trio

from hub.errors import Code, HubError
from hub.io.git_digest import look
from hub.io.git_dirs import Linked, check_worktree, project_of
from hub.io.git_env import git
from hub.io.git_refs import (
    BASE,
    INDEX_SUFFIX,
    KEPT,
    Commit,
    branch_of,
    commit_tree,
    is_ancestor,
    kept_ref,
    move_refs,
    read_commits,
)
from hub.io.git_tree import (
    Built,
    Shadow,
    Skipped,
    build_tree,
    copy_index,
    open_shadow,
    scratch,
    seed_index,
    show,
)
from hub.io.places import Places

_ATTEMPTS = 3
_SHORT = 12


class Change(NamedTuple):
    """One path that a snapshot changed against its first parent."""

    path: str
    sha256: str | None
    """Of its content; None for a deleted path, a submodule, or a file that was being written to."""
    status: str
    """`A` added, `M` changed, `D` deleted, `T` changed its type."""


@attrs.frozen
class Snapshot:
    """A snapshot that is durable and referenced."""

    sha: str
    short: str
    tree: str
    parent: str
    """The commit the worktree's HEAD was at."""
    files: tuple[Change, ...]
    skipped: tuple[Skipped, ...]
    """What is not in it, and why."""
    reused: bool = False
    """True when this handoff's snapshot of the same tree was there already."""
    staged: str = ""
    """The commit that keeps what the agent had staged, where that was nowhere else."""
    notes: tuple[str, ...] = ()
    """What was found out of order and how it was met."""


@attrs.frozen
class _Refs:
    """Where things point."""

    head: Commit
    tip: Commit
    on_branch: bool
    kept: Commit | None
    kept_sha: str


@attrs.frozen
class _Index:
    """The agent's own index."""

    tree: str = ""
    """What is staged; "" when the index is missing, unreadable or has conflicts."""
    conflicts: bytes = b""
    """Its unmerged entries, as `ls-files -u -z` gives them."""


async def snapshot(
    worktree: Path,
    session_id: str,
    handoff_id: str,
    trailers: Mapping[str, str],
    kept_index: Path | None = None,
    *,
    root: Path | None = None,
    subject: str = "",
) -> Snapshot:
    """Commits the worktree as it stands to `hub/<session_id>`, also when nothing changed.

    Guarantees: every byte of every file that is not ignored is in the commit or named in `skipped`; the branch
    only ever moves forward, from where it was read; what it pointed to stays reachable; the second call for the
    same handoff and the same files gives the same commit, whether or not the first one lived to its end.

    Args:
        worktree: The session's worktree.
        session_id: Its session.
        handoff_id: The handoff; kept under `refs/hub/<session>/<handoff>`.
        trailers: More trailers (`Hub-Audit`); session and handoff are put in here.
        kept_index: hub's index for this worktree; the usual place when None.
        root: The project, when the worktree is not in its usual place.
        subject: First line of the message.

    Raises:
        HubError: WORKTREE_MISSING, WORKTREE_TAMPERED, BRANCH_MISSING (and nothing to make it anew from),
            NO_SPACE, READ_ONLY, NO_PERMISSION, GIT_FAILED.
    """
    root = root or project_of(worktree)
    link = check_worktree(root, worktree)
    branch = branch_of(session_id)
    kept = kept_ref(session_id, handoff_id)
    notes: list[str] = []
    refs = await _read_refs(link, root, session_id, kept, notes)
    shadow = await _ready_shadow(link, kept_index or Places(root).kept_index(session_id), refs.head.tree)
    staged = await _read_index(link, shadow)
    built = await build_tree(shadow, [tree for tree in (refs.head.tree, staged.tree) if tree])
    saved = await _save_staged(link, root, kept, refs, staged, built.tree)
    message = _message(subject or f"hub: snapshot {handoff_id}", session_id, handoff_id, trailers)
    sha, reused = await _commit(link, root, branch, kept, built.tree, message, refs, session_id, notes)
    parent = await _parent_of(sha, refs, link, root)
    files = await _changes(shadow, parent.tree, built)
    if refs.on_branch:
        await _align_index(link, shadow, staged)
    if (link.admin / "index.lock").exists():
        notes.append("the agent left an index.lock; it was left in place")
    return Snapshot(
        sha, sha[:_SHORT], built.tree, parent.sha, files, built.skipped, reused, saved, tuple(notes)
    )


async def tree_hash(worktree: Path, kept_index: Path | None = None, *, root: Path | None = None) -> str:
    """The tree a snapshot of the worktree would have. Moves nothing; hub's index is not changed.

    Raises:
        HubError: As `snapshot`.
    """
    root = root or project_of(worktree)
    link = check_worktree(root, worktree)
    (head,) = await read_commits(["HEAD"], cwd=root, where=link.where)
    if head is None:
        raise HubError(Code.BRANCH_MISSING, f"The HEAD of {worktree} points nowhere.")
    shadow = await _ready_shadow(link, kept_index or Places(root).kept_index(worktree.name), head.tree)
    staged = await _read_index(link, shadow)
    async with scratch(shadow, shadow.index) as spare:
        return (await build_tree(spare, [tree for tree in (head.tree, staged.tree) if tree])).tree


async def _parent_of(sha: str, refs: _Refs, link: Linked, root: Path) -> Commit:
    """The first parent of the snapshot: HEAD, or what HEAD was before it when it was made earlier."""
    if sha != refs.head.sha:
        return refs.head
    (parent,) = await read_commits([f"{sha}^1"], cwd=root, where=link.where)
    return parent or refs.head


async def _ready_shadow(link: Linked, index: Path, tree: str) -> Shadow:
    shadow = await open_shadow(link.worktree, link.common, index)
    if not index.is_file():
        await seed_index(shadow, tree)
    return shadow


async def _read_refs(link: Linked, root: Path, session_id: str, kept: str, notes: list[str]) -> _Refs:
    branch = f"refs/heads/{branch_of(session_id)}"
    found: list[Commit | None] = []
    symbolic = ""

    async def commits() -> None:
        found.extend(await read_commits(["HEAD", branch, kept], cwd=root, where=link.where))

    async def name() -> None:
        nonlocal symbolic
        done = await git("symbolic-ref", "-q", "HEAD", cwd=root, where=link.where, accept=(0, 1, 128))
        symbolic = done.text

    async with trio.open_nursery() as nursery:
        nursery.start_soon(commits)
        nursery.start_soon(name)
    head, tip, last = found
    if tip is None:
        tip = await _recover_branch(link, root, session_id, branch)
        notes.append(f"the branch {branch_of(session_id)} was gone; it was made anew at {tip.sha[:_SHORT]}")
        if symbolic == branch:
            head = tip
    return _Refs(head or tip, tip, symbolic == branch, last, last.sha if last else "")


async def _recover_branch(link: Linked, root: Path, session_id: str, branch: str) -> Commit:
    """Makes a deleted session branch anew: where its worktree last was, else at the newest kept snapshot."""
    done = await git(
        "for-each-ref", "--sort=-committerdate", "--format=%(objectname)", f"{KEPT}/{session_id}/", cwd=root
    )
    kept = [commit for commit in await read_commits(done.text.split(), cwd=root, where=link.where) if commit]
    if not kept:
        raise HubError(
            Code.BRANCH_MISSING, f"The branch {branch_of(session_id)} is gone, and no snapshot is kept."
        )
    newest = kept[0]
    seen = _last_seen(link)
    if seen:
        (commit,) = await read_commits([seen], cwd=root, where=link.where)
        if commit and await is_ancestor(newest.sha, commit.sha, cwd=root, where=link.where):
            newest = commit
    await move_refs(
        [(branch, newest.sha, "0" * len(newest.sha))], "hub: made anew", cwd=root, where=link.where
    )
    return newest


def _last_seen(link: Linked) -> str:
    """The last commit the worktree's HEAD log tells of."""
    with contextlib.suppress(OSError, IndexError):
        return (link.admin / "logs" / "HEAD").read_text("utf-8", "replace").splitlines()[-1].split(" ")[1]
    return ""


async def _read_index(link: Linked, shadow: Shadow) -> _Index:
    """What is staged, read from a copy: a lock that was left behind does not matter."""
    source = link.admin / "index"
    if not source.is_file():
        return _Index()
    async with scratch(shadow, source) as copy:
        done = await git("write-tree", "--missing-ok", cwd=shadow.worktree, where=copy.where, accept=(0, 128))
        if done.code == 0:
            return _Index(tree=done.text)
        unmerged = await git("ls-files", "-u", "-z", cwd=shadow.worktree, where=copy.where, accept=(0, 128))
        return _Index(conflicts=unmerged.out)


async def _changes(shadow: Shadow, old: str, built: Built) -> tuple[Change, ...]:
    """What a tree changed, with the SHA-256 of each file's content."""
    if old == built.tree:
        return ()
    done = await git(
        "diff-tree",
        "-r",
        "-z",
        "--name-status",
        "--no-renames",
        old,
        built.tree,
        cwd=shadow.worktree,
        where=shadow.where,
    )
    fields = done.out.split(b"\0")
    pairs = list(zip(fields[1::2], (status.decode() for status in fields[0:-1:2]), strict=True))
    unread = [path for path, status in pairs if status != "D" and path not in built.contents]
    more = await trio.to_thread.run_sync(
        partial(look, shadow.worktree, sorted(unread), shadow.algorithm, executable_bit=shadow.executable_bit)
    )
    read = {**more, **built.contents}
    return tuple(
        Change(show(path), getattr(read.get(path), "sha256", "") or None if status != "D" else None, status)
        for path, status in pairs
    )


async def _save_staged(link: Linked, root: Path, kept: str, refs: _Refs, staged: _Index, tree: str) -> str:
    """Keeps what the agent had staged when it is neither in HEAD nor in the snapshot."""
    if staged.tree in {"", refs.head.tree, tree}:
        return ""
    name = kept + INDEX_SUFFIX
    (old,) = await read_commits([name], cwd=root, where=link.where)
    if old is not None and old.tree == staged.tree:
        return old.sha
    when = max(int(time.time()), refs.head.when)
    sha = await commit_tree(
        staged.tree, [refs.head.sha], "hub: what was staged\n", when, cwd=root, where=link.where
    )
    await move_refs(
        [(name, sha, old.sha if old else "0" * len(sha))], "hub: staged", cwd=root, where=link.where
    )
    return sha


def _message(subject: str, session_id: str, handoff_id: str, trailers: Mapping[str, str]) -> str:
    lines = {**trailers, "Hub-Session": session_id, "Hub-Handoff": handoff_id}
    if any("\n" in text for pair in lines.items() for text in pair) or "\n" in subject:
        raise ValueError("a trailer is one line")
    return f"{subject}\n\n" + "".join(f"{name}: {lines[name]}\n" for name in sorted(lines, reverse=True))


async def _commit(
    link: Linked, root: Path, branch: str, kept: str, tree: str, message: str, refs: _Refs, session_id: str,
    notes: list[str],
) -> tuple[str, bool]:  # fmt: skip
    """The commit, made or found, with branch and kept ref on it; again when the branch moved meanwhile."""
    full = f"refs/heads/{branch}"
    for _ in range(_ATTEMPTS):
        parents = [refs.head.sha]
        if not await is_ancestor(refs.tip.sha, refs.head.sha, cwd=root, where=link.where):
            parents.append(refs.tip.sha)
        sha = _reusable(refs, tree, parents)
        if sha == refs.tip.sha == refs.kept_sha:
            return sha, True
        reused = bool(sha)
        if not sha:
            when = max(int(time.time()), refs.head.when, refs.tip.when)
            sha = await commit_tree(tree, parents, message, when, cwd=root, where=link.where)
        zero = "0" * len(sha)
        moves = [(full, sha, refs.tip.sha), (kept, sha, refs.kept_sha or zero)]
        moves = [move for move in moves if move[1] != move[2]]
        if await move_refs(moves, "hub: snapshot", cwd=root, where=link.where):
            return sha, reused
        refs = await _read_refs(link, root, session_id, kept, notes)
    raise HubError(Code.GIT_FAILED, f"The branch {branch} keeps moving; the snapshot could not be put on it.")


def _reusable(refs: _Refs, tree: str, parents: list[str]) -> str:
    """This handoff's earlier snapshot, when it is of the same tree and stands where a new one would."""
    kept = refs.kept
    if kept is None or kept.tree != tree:
        return ""
    at_tip = kept.sha == refs.tip.sha and refs.head.sha in {kept.sha, *kept.parents}
    return kept.sha if at_tip or list(kept.parents) == parents else ""


async def _align_index(link: Linked, shadow: Shadow, staged: _Index) -> None:
    """Gives the worktree hub's index, so that its status is true; its conflicts stay conflicts."""
    async with scratch(shadow, shadow.index) as copy:
        if staged.conflicts:
            entries = staged.conflicts.split(b"\0")[:-1]
            names = dict.fromkeys(entry.partition(b"\t")[2] for entry in entries)
            gone = [b"0 %b\t%b" % (shadow.zero.encode(), name) for name in names]
            stdin = b"".join(line + b"\0" for line in (*gone, *entries))
            await git(
                "update-index", "-z", "--index-info", cwd=shadow.worktree, where=copy.where, stdin=stdin
            )
        await trio.to_thread.run_sync(copy_index, copy.index, link.admin / "index")


__all__ = ["BASE", "Change", "Snapshot", "snapshot", "tree_hash"]
