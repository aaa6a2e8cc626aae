"""A session's worktree as a snapshot finds it.

Owns: reading, all at once, where HEAD, branch and refs stand, what the agent has staged, and what changed; and
making a deleted session branch anew.
Must not: write to the worktree or its index, or move a ref that exists.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded
from hub.io.git.digest import SUBMODULE
from hub.io.git.env import git, together
from hub.io.git.identity import CommitIdentity, identity
from hub.io.git.layout import Linked, check_worktree
from hub.io.git.own_folder import folder_of
from hub.io.git.refs import (
    GitCommit,
    branch_gone,
    branch_of,
    is_ancestor,
    move_refs,
    newest_kept,
    read_commits,
)
from hub.io.git.scan import Entry, Scan, raw_diff, scan, tree_diff
from hub.io.git.shadow import Shadow, base_tree, note, noted, open_shadow, scratch, seed_index
from hub.io.project.places import Places

_HEAD_LIMIT = 8192
_NOTE = "agent-index"

Pair = tuple[Entry | None, Entry | None]


@attrs.frozen
class Ground:
    """Where a session's work stands."""

    root: Path
    link: Linked
    shadow: Shadow


@attrs.frozen
class Refs:
    """Where things point."""

    head: GitCommit
    """What the worktree's HEAD is at."""
    tip: GitCommit
    """What the session's branch is at."""
    on_branch: bool
    """Whether HEAD is that branch."""
    kept: GitCommit | None
    """This handoff's earlier snapshot."""
    parents: tuple[str, ...]
    """What a new snapshot comes after: HEAD, and the tip where HEAD does not hold it."""
    notes: tuple[str, ...] = ()


@attrs.frozen
class AgentIndex:
    """The agent's own index."""

    tree: str = ""
    """What is staged; "" when the index is missing, unreadable or has conflicts."""
    conflicts: bytes = b""
    """Its unmerged entries, as `ls-files -u -z` gives them."""


@attrs.frozen
class TreeView:
    """All that a snapshot is made from."""

    base: str
    """The kept index's tree."""
    found: Scan
    refs: Refs
    index: AgentIndex
    tracked: frozenset[bytes]
    """Paths the agent tracks and the base does not know: they belong to the tree, ignored or not."""
    who: CommitIdentity
    """Whose a commit is."""


async def open_ground(worktree: Path, root: Path) -> Ground:
    """Checks the worktree and opens hub's index for it, made anew from HEAD when it is gone.

    Raises:
        HubError: WORKTREE_MISSING, WORKTREE_TAMPERED, BRANCH_MISSING when HEAD points nowhere.
    """
    link = check_worktree(root, worktree)
    index = Places(root).kept_index(worktree.name)
    shadow = await open_shadow(worktree, link.common, index)
    if not index.is_file():  # one stat
        await seed_index(shadow, (await head_of(root, link)).tree)
    return Ground(root, link, await _with_unseen(shadow, link))


async def _with_unseen(shadow: Shadow, link: Linked) -> Shadow:
    """The shadow with what the agent's own sparse checkout keeps out of the worktree; mostly there is none."""
    source = link.admin / "index"
    if not ((link.admin / "info" / "sparse-checkout").is_file() and index_stamp(source)):
        return shadow
    async with scratch(shadow, source) as copy:
        args = ("-s", "-t", "-z")
        done = await git("ls-files", *args, cwd=shadow.worktree, where=copy.where, accept=(0, 128))
    heads = (line.partition(b"\t") for line in done.out.split(b"\0") if line.startswith(b"S "))
    return attrs.evolve(shadow, unseen={path: _staged(head) for head, _, path in heads})


def _staged(head: bytes) -> Entry:
    _, mode, oid, _ = head.decode("ascii").split(" ")
    return mode, oid


async def head_of(root: Path, link: Linked) -> GitCommit:
    """The commit HEAD is at.

    Raises:
        HubError: BRANCH_MISSING.
    """
    (head,) = await read_commits(["HEAD"], cwd=root, where=link.where)
    if head is None:
        raise HubError(Code.BRANCH_MISSING, f"The HEAD of {link.worktree} points nowhere.")
    return head


async def view(ground: Ground, session_id: str, kept: str) -> TreeView:
    """Reads everything at once.

    Raises:
        HubError: BRANCH_MISSING when the branch is gone and nothing tells where it was.
    """
    base = await base_tree(ground.shadow)

    async def repository() -> tuple[Refs, AgentIndex, frozenset[bytes]]:
        refs = await read_refs(ground, session_id, kept)
        index = await read_index(ground)
        return refs, index, await _tracked(ground.shadow, base, refs.head.tree, index.tree)

    found, known, who = await together(
        partial(scan, ground.shadow, specials=True), repository, partial(identity, ground.root)
    )
    return TreeView(base, found, *known, who)


async def tracked_paths(ground: Ground) -> frozenset[bytes]:
    """`View.tracked` alone, found without writing a tree of what is staged."""
    shadow, base = ground.shadow, await base_tree(ground.shadow)
    head = (await head_of(ground.root, ground.link)).tree
    source = ground.link.admin / "index"
    stamp = index_stamp(source)
    if (known := _noted(shadow, stamp)) or not stamp:
        return await _tracked(shadow, base, head, known)
    pairs = await tree_diff(base, head, cwd=shadow.worktree, where=shadow.where)
    async with scratch(shadow, source) as copy:
        args = ("--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty", base)
        done = await git("diff-index", *args, cwd=shadow.worktree, where=copy.where, accept=(0, 128))
        pairs = {**pairs, **(raw_diff(done.out) if done.code == 0 else {})}
    return _new_paths(pairs.items())


async def _tracked(shadow: Shadow, base: str, head: str, staged: str) -> frozenset[bytes]:
    trees = dict.fromkeys(tree for tree in (head, staged) if tree)
    pairs = [await tree_diff(base, tree, cwd=shadow.worktree, where=shadow.where) for tree in trees]
    return _new_paths(chain.from_iterable(each.items() for each in pairs))


def _new_paths(pairs: Iterable[tuple[bytes, Pair]]) -> frozenset[bytes]:
    """Files that the right side has and the left side does not; of hub's own folders submodules too, to be told of."""
    return frozenset(
        path
        for path, (old, new) in pairs
        if old is None and new and (new[0] != SUBMODULE or folder_of(path) is not None)
    )


async def read_refs(ground: Ground, session_id: str, kept: str) -> Refs:
    """Where HEAD, the session's branch and the handoff's snapshot stand."""
    link, root = ground.link, ground.root
    branch = f"refs/heads/{branch_of(session_id)}"
    head, tip, last = await read_commits(["HEAD", branch, kept], cwd=root, where=link.where)
    named = await _head_name(ground)
    notes: tuple[str, ...] = ()
    if tip is None:
        tip = await _recover_branch(ground, session_id, branch)
        notes = (f"the branch {branch_of(session_id)} was gone; it was made anew at {tip.sha[:12]}",)
        head = tip if named == branch else head
    head = head or tip
    parents: tuple[str, ...] = (head.sha,)
    if not await is_ancestor(tip.sha, head.sha, cwd=root, where=link.where):
        parents = (head.sha, tip.sha)
    return Refs(head, tip, named == branch, last, parents, notes)


async def _head_name(ground: Ground) -> str:
    """The ref that HEAD is; "" when it is a commit. A file says it, except where refs live in a table."""
    with contextlib.suppress(OSError, HubError):
        text = read_bounded(ground.link.admin / "HEAD", _HEAD_LIMIT).decode("utf-8", "replace").strip()
        if not text.endswith("/.invalid"):
            return text.removeprefix("ref: ") if text.startswith("ref: ") else ""
    done = await git(
        "symbolic-ref", "-q", "HEAD", cwd=ground.root, where=ground.link.where, accept=(0, 1, 128)
    )
    return done.text


async def _recover_branch(ground: Ground, session_id: str, branch: str) -> GitCommit:
    """Makes a deleted session branch anew: where its worktree last was, else at the newest kept snapshot."""
    cwd, where = ground.root, ground.link.where
    newest = await newest_kept(cwd, session_id)
    if newest is None:
        raise await branch_gone(cwd, session_id)
    (seen,) = await read_commits([_last_seen(ground.link)], cwd=cwd, where=where)
    if seen and await is_ancestor(newest.sha, seen.sha, cwd=cwd, where=where):
        newest = seen
    await move_refs([(branch, newest.sha, "0" * len(newest.sha))], "hub: made anew", cwd=cwd, where=where)
    return newest


def _last_seen(link: Linked) -> str:
    """The last commit the worktree's HEAD log tells of; a name that is none when there is no log."""
    with contextlib.suppress(OSError, IndexError):
        text = (link.admin / "logs" / "HEAD").read_text("utf-8", "replace")
        return text.splitlines()[-1].split(" ")[1]
    return "0" * 40


async def read_index(ground: Ground) -> AgentIndex:
    """What is staged, read from a copy: a lock that was left behind does not matter."""
    shadow, source = ground.shadow, ground.link.admin / "index"
    stamp = index_stamp(source)
    if not stamp:
        return AgentIndex()
    if known := _noted(shadow, stamp):
        return AgentIndex(known)
    async with scratch(shadow, source) as copy:
        done = await git("write-tree", "--missing-ok", cwd=shadow.worktree, where=copy.where, accept=(0, 128))
        if done.code == 0:
            return AgentIndex(done.text)
        unmerged = await git("ls-files", "-u", "-z", cwd=shadow.worktree, where=copy.where, accept=(0, 128))
        return AgentIndex(conflicts=unmerged.out)


def note_index(shadow: Shadow, index: Path, tree: str) -> None:
    """Remembers what the agent's index holds, so that it is not read again while nobody touched it."""
    note(shadow, _NOTE, index_stamp(index), tree.encode())


def _noted(shadow: Shadow, stamp: str) -> str:
    """The tree that was noted for an index with this stamp; "" when none was."""
    return ((stamp and noted(shadow, _NOTE, stamp)) or b"").decode("ascii")


def index_stamp(index: Path) -> str:
    """By which an index file is known again; "" when there is none."""
    if not index.is_file() or index.is_symlink():
        return ""
    found = index.stat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
