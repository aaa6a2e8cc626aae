"""A session's work as a commit, by plumbing alone.

Owns: the snapshot: its commit, its refs, and bringing the agent's own index in line with it.
Must not: change a file of the worktree, move HEAD to another branch, drop anything the agent had staged, or run
what the agent planted.

See `design/decisions/0003-snapshots-by-plumbing.md` for why not `git add` and `git commit`.
"""

from __future__ import annotations

import errno
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors
from hub.io.git.digest import Content, look
from hub.io.git.env import git, together
from hub.io.git.programs import planted_programs
from hub.io.git.refs import INDEX_SUFFIX, branch_of, commit_tree, kept_ref, move_refs, read_commits
from hub.io.git.scan import Skipped, TreeChanges, gather, scan, show
from hub.io.git.shadow import copy_index
from hub.io.git.store import CommitDraft, MovingError, StoredObjects, apply, store_commit, would_be
from hub.io.git.view import (
    Ground,
    Refs,
    TreeView,
    note_index,
    open_ground,
    tracked_paths,
    view,
)

_ATTEMPTS = 3
_NAMED = 10


@attrs.frozen
class Snapshot:
    """A snapshot that is durable and referenced."""

    sha: str
    tree: str
    skipped: tuple[Skipped, ...]
    """What is not in it, and why."""
    notes: tuple[str, ...]
    """What was found out of order and how it was met."""


async def snapshot(
    worktree: Path,
    session_id: str,
    handoff_id: str,
    trailers: Mapping[str, str],
    *,
    root: Path,
) -> Snapshot:
    """Commits the worktree as it stands to `hub/<session_id>`, also when nothing changed.

    Guarantees: every byte of every file that is not ignored is in the commit or named in `skipped`; the branch
    only ever moves forward, from where it was read; what it pointed to stays reachable; a second call for the
    same handoff and the same files gives the same commit, whether or not the first one lived to its end.

    Args:
        worktree: The session's worktree.
        session_id: Its session.
        handoff_id: The handoff; kept under `refs/hub/<session>/<handoff>`.
        trailers: More trailers (`Hub-Audit`); session and handoff are put in here.
        root: The project.

    Raises:
        HubError: WORKTREE_MISSING, WORKTREE_TAMPERED, BRANCH_MISSING (and nothing to make it anew from),
            NO_SPACE, READ_ONLY, NO_PERMISSION, GIT_FAILED.
    """
    text = _message(session_id, handoff_id, trailers)
    plan = _Plan(session_id, branch_of(session_id), kept_ref(session_id, handoff_id), text)
    ground = await open_ground(worktree, root)
    taken, planted = await together(
        partial(_take, ground, plan),
        partial(planted_programs, ground.shadow.git_dir, ground.root, ground.link.common),
    )
    return attrs.evolve(taken, notes=(*taken.notes, *_warnings(planted)))


def _warnings(planted: Sequence[str]) -> tuple[str, ...]:
    """Of what the user's git would obey; hub's does not."""
    if not planted:
        return ()
    names = ", ".join(planted[:_NAMED]) + (", ..." if len(planted) > _NAMED else "")
    return (f"the repository's configuration names programs it did not name at the start: {names}",)


async def tree_hash(worktree: Path, *, root: Path) -> str:
    """The tree a snapshot of the worktree would have. Moves nothing and leaves nothing behind.

    Raises:
        HubError: As `snapshot`.
    """
    ground = await open_ground(worktree, root)
    work = await gather(ground.shadow, await scan(ground.shadow), await tracked_paths(ground))
    return await would_be(ground.shadow, work.entries)


async def new_files(worktree: Path, *, root: Path) -> dict[bytes, str]:
    """The files that are in the worktree and came with no checkout, with the ids of their content; without what git ignores.

    Raises:
        HubError: As `snapshot`.
    """
    ground = await open_ground(worktree, root)
    found = await scan(ground.shadow)
    shadow = ground.shadow
    names = sorted(path for path, old in found.paths.items() if old is None)
    seen = await trio.to_thread.run_sync(
        partial(look, shadow.worktree, names, shadow.algorithm, executable_bit=shadow.executable_bit)
    )
    return {path: what.oid if isinstance(what, Content) else "" for path, what in seen.items()}


async def committed_tops(root: Path, branch: str) -> set[bytes]:
    """The names at the top of a branch's tree."""
    listed = await git("ls-tree", "-z", "--name-only", f"refs/heads/{branch}", cwd=root)
    return set(filter(None, listed.out.split(b"\0")))


@attrs.frozen
class _Plan:
    """What a snapshot is to be called."""

    session_id: str
    branch: str
    kept: str
    """The ref that keeps it."""
    message: str


async def _take(ground: Ground, plan: _Plan) -> Snapshot:
    """Looks, stores and publishes; again while files or the branch move under it."""
    for attempt in range(_ATTEMPTS):
        seen = await view(ground, plan.session_id, plan.kept)
        work = await gather(ground.shadow, seen.found, seen.tracked)
        try:
            made, sha = await _round(ground, plan, seen, work, settle=attempt == _ATTEMPTS - 1)
        except MovingError:
            continue
        if sha:
            _install(ground, seen, made)
            return Snapshot(sha, made.tree, _skipped(seen, work), _notes(ground, seen))
    raise HubError(Code.GIT_FAILED, f"{ground.link.worktree} keeps changing while it is being stored.")


async def _round(
    ground: Ground, plan: _Plan, seen: TreeView, work: TreeChanges, *, settle: bool
) -> tuple[StoredObjects, str]:
    """Stores the work and moves the refs while, beside that, the agent's next index is made ready.

    With what was stored comes the commit that the refs are on; "" when the branch moved meanwhile.
    """
    refs = seen.refs
    when = max(int(time.time()), refs.head.when, refs.tip.when)
    draft = CommitDraft(seen.base, refs.parents, plan.message, when, str(seen.who))

    async def commit() -> tuple[StoredObjects, str]:
        made = await store_commit(ground.shadow, draft, work, settle=settle)
        await _save_staged(ground, seen, made.tree, plan.kept)
        return made, await _publish(ground, refs, made, plan)

    _, done = await together(partial(_ready_index, ground, seen, work), commit)
    return done


async def _ready_index(ground: Ground, seen: TreeView, work: TreeChanges) -> None:
    """The index the agent will find, beside its own until the refs have moved.

    It begins as a second name of the kept one: git writes an index anew, and renames it into the place of that name alone.
    """
    if not seen.refs.on_branch:
        return
    shadow, index = ground.shadow, _next_index(ground)
    with coded_errors(index):
        # Of a git that was killed; only hub is here.
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        index.unlink(missing_ok=True)
        index.hardlink_to(shadow.index)
    spare = attrs.evolve(shadow, index=index)
    await apply(spare, work.entries, seen.index.conflicts)
    if shadow.unseen:
        stdin = b"".join(path + b"\0" for path in shadow.unseen)
        args = ("--skip-worktree", "-z", "--stdin")
        await git("update-index", *args, cwd=shadow.worktree, where=spare.where, stdin=stdin, accept=(0, 128))


def _next_index(ground: Ground) -> Path:
    """Where the agent's next index is made ready."""
    return ground.shadow.git_dir / "next-index"


def _install(ground: Ground, seen: TreeView, made: StoredObjects) -> None:
    """Gives the worktree the readied index, so that its status is true of the branch's new tip.

    On another branch or none HEAD did not move, and the agent's index is as true as it was. Where everything was
    staged already the agent keeps its own, which knows more about the files.
    """
    if not seen.refs.on_branch or seen.index.tree == made.tree:
        return
    index, target = _next_index(ground), ground.link.admin / "index"
    if target.is_dir() and not target.is_symlink():
        # No git can use it, nor put one there.
        target.rename(tempfile.mkdtemp(prefix="index-", dir=target.parent))
    try:
        index.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy_index(index, target)
    if not seen.index.conflicts and not made.moved:
        note_index(ground.shadow, target, made.tree)


async def _save_staged(ground: Ground, seen: TreeView, tree: str, kept: str) -> None:
    """Keeps what the agent had staged when it is neither in HEAD nor in the snapshot."""
    staged, head = seen.index.tree, seen.refs.head
    if not seen.refs.on_branch or staged in {"", head.tree, tree}:
        return
    root, where, name = ground.root, ground.link.where, kept + INDEX_SUFFIX
    (old,) = await read_commits([name], cwd=root, where=where)
    if old is not None and old.tree == staged:
        return
    when = max(int(time.time()), head.when)
    sha = await commit_tree(staged, [head.sha], "hub: what was staged\n", when, cwd=root, where=where)
    await move_refs([(name, sha, old.sha if old else "0" * len(sha))], "hub: staged", cwd=root, where=where)


def _message(session_id: str, handoff_id: str, trailers: Mapping[str, str]) -> str:
    lines = {"Hub-Session": session_id, "Hub-Handoff": handoff_id, **trailers}
    if any("\n" in text for pair in lines.items() for text in pair):
        raise ValueError("a trailer is one line")
    return f"hub: snapshot {handoff_id}\n\n" + "".join(f"{name}: {value}\n" for name, value in lines.items())


async def _publish(ground: Ground, refs: Refs, made: StoredObjects, plan: _Plan) -> str:
    """Puts branch and kept ref on the commit, or on an earlier one that says the same; "" when the branch moved."""
    sha = _earlier(refs, made.tree) or made.commit
    moves = [(f"refs/heads/{plan.branch}", sha, refs.tip.sha)]
    moves.append((plan.kept, sha, refs.kept.sha if refs.kept else "0" * len(sha)))
    moves = [move for move in moves if move[1] != move[2]]
    if not moves or await move_refs(moves, "hub: snapshot", cwd=ground.root, where=ground.link.where):
        return sha
    return ""


def _earlier(refs: Refs, tree: str) -> str:
    """This handoff's earlier snapshot, when it is of the same tree and stands where a new one would."""
    kept = refs.kept
    if kept is None or kept.tree != tree:
        return ""
    at_tip = kept.sha == refs.tip.sha and refs.head.sha in {kept.sha, *kept.parents}
    return kept.sha if at_tip or kept.parents == refs.parents else ""


def _skipped(seen: TreeView, work: TreeChanges) -> tuple[Skipped, ...]:
    odd = {Skipped(show(name), "not a file") for name in seen.found.specials}
    return tuple(sorted({*work.skipped, *odd}, key=lambda item: item.path))


def _notes(ground: Ground, seen: TreeView) -> tuple[str, ...]:
    locked = (ground.link.admin / "index.lock").exists()
    return (
        *seen.refs.notes,
        *(("the agent left an index.lock behind; it was left in place",) if locked else ()),
    )
