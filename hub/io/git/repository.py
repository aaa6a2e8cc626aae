"""What hub asks of git.

Owns: the state of the user's repository, diffs, the list of snapshots, rewinding, and the tree of a worktree as it is now.
Must not: move the user's HEAD, branch or index, or pass a name from outside to git without its full form.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import attrs

from hub.api.history import Commit, Diff
from hub.errors import Code, HubError
from hub.io.git.converting import as_added
from hub.io.git.env import effective_config, git, git_capped
from hub.io.git.layout import barred
from hub.io.git.own_folder import brought_by
from hub.io.git.refs import (
    ASIDE,
    ASIDE_TIP,
    BASE,
    DISCARDED,
    INDEX_SUFFIX,
    KEPT,
    TAKE,
    TAKEN,
    branch_gone,
    commit_of,
    head_commit,
    is_ancestor,
    kept_ref,
    merge_base,
    move_refs,
    read_commits,
    resolve,
)
from hub.io.git.scan import gather, scan
from hub.io.git.shadow import Shadow, base_tree, throwaway
from hub.io.git.store import CommitDraft, MovingError, more_objects, store_commit
from hub.io.git.view import open_ground, tracked_paths

DIFF_LIMIT = 1 << 20
_STAT_LIMIT = 1 << 18
_SHORT = 12
_REWINDS = 1000
_NO_WORKTREE = frozenset({Code.WORKTREE_MISSING, Code.WORKTREE_TAMPERED})
_DIFF = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")
"""No setting of the repository's about how a diff looks is in force: `diff.orderFile` and the like hide files, or end it."""


@attrs.frozen
class RepoState:
    """The user's repository as a session would find it."""

    head_sha: str
    """"" when there is no commit."""
    main_branch: str
    """What a session's diff is taken against: the current branch, else the repository's main one, else HEAD."""


async def repo_state(root: Path) -> RepoState:
    """The state of the repository.

    Raises:
        HubError: NOT_A_REPOSITORY, GIT_MISSING, NO_PERMISSION when hub could not write to it, and as `head_commit`.
    """
    if places := barred(root):
        raise HubError(Code.NO_PERMISSION, f"{places[0]} is not writable.")
    named = await git("symbolic-ref", "-q", "--short", "HEAD", cwd=root, accept=(0, 1))
    head = await head_commit(root)
    return RepoState(head, named.text or await _main_branch(root) or head)


async def _main_branch(root: Path) -> str:
    """The repository's main branch by convention; "" when there is none."""
    remote = await git(
        "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD", cwd=root, accept=(0, 1, 128)
    )
    configured = (await effective_config(root)).get("init.defaultbranch", "")
    names = [remote.text.removeprefix("origin/"), configured, "main", "master"]
    for name in filter(None, names):
        if await commit_of(root, f"refs/heads/{name}"):
            return name
    return ""


async def project_files(root: Path) -> list[bytes]:
    """Paths relative to `root`, sorted: what git tracks or would, without what `.gitignore` and its kin leave out.

    A path may be gone, a link or a directory (a nested repository's): git tells its index, not the disk.

    Raises:
        HubError: NOT_A_REPOSITORY, and as `git`.
    """
    done = await git(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", cwd=root
    )
    return sorted(done.out.split(b"\0")[:-1])


async def session_diff(root: Path, main_branch: str, branch: str, worktree: Path | None = None) -> Diff:
    """What a session changed: `main...branch`, without the uncommitted changes that the user brought along.

    Args:
        root: The project.
        main_branch: What the branch left.
        branch: The session's.
        worktree: Where its agent works: what is in no snapshot yet is told too. It is only read, and nothing is kept of
            it; of one that is gone or leads elsewhere the branch alone is told.

    Raises:
        HubError: BRANCH_MISSING when the session's branch is gone.
    """
    base, end = await _branched_from(root, main_branch, branch, carried=False)
    if worktree is not None:
        try:
            async with live_tree(worktree, root) as (tree, where):
                return await _diff(root, base, tree, where)
        except HubError as error:
            if error.code not in _NO_WORKTREE:
                raise
    return await _diff(root, base, end)


async def given_patch(root: Path, main_branch: str, branch: str) -> str:
    """What the next agent is given beyond `main_branch`: the user's uncommitted changes too, and all byte for byte.

    Of more than `DIFF_LIMIT` bytes the beginning.

    Raises:
        HubError: As `session_diff`.
    """
    base, end = await _branched_from(root, main_branch, branch, carried=True)
    patch, _ = await git_capped("diff-tree", *_DIFF, "--patch", base, end, "--", cwd=root, limit=DIFF_LIMIT)
    return patch.decode("utf-8", "replace")


async def _branched_from(root: Path, main_branch: str, branch: str, *, carried: bool) -> tuple[str, str]:
    """Where a session's work begins, and where it ends.

    It begins at the commit that carries the user's changes, where that is the newest in common; it ends where its branch is,
    or was when its user let it go.
    """
    session = branch.removeprefix("hub/")
    names = [
        f"refs/heads/{branch}",
        kept_ref(session, DISCARDED),
        _full_name(main_branch),
        kept_ref(session, BASE),
    ]
    found = await read_commits(names, cwd=root)
    tip, discarded, old, start = (commit.sha if commit else "" for commit in found)
    new = tip or discarded
    if not new:
        raise await branch_gone(root, session)
    if not old and not start:
        raise HubError(Code.BRANCH_MISSING, f"The branch {main_branch} is gone.")
    base = await merge_base(old or start, new, cwd=root) or old or start
    if carried or not start:
        return base, new
    # The agent may have merged a newer main branch: then that is what the work is on.
    if await is_ancestor(base, start, cwd=root) and await is_ancestor(start, new, cwd=root):
        return start, new
    return base, new


async def commit_diff(root: Path, sha: str) -> Diff:
    """What one snapshot changed against its first parent.

    Raises:
        HubError: NOT_FOUND.
    """
    full = await resolve(root, sha)
    parent = await commit_of(root, f"{full}^1")
    if not parent:
        parent = (await git("hash-object", "-t", "tree", "--stdin", cwd=root)).text
    return await _diff(root, parent, full)


async def snapshots(root: Path) -> list[Commit]:
    """The kept snapshots of all sessions, newest first."""
    fields = "%(refname)%00%(objectname)%00%(contents:subject)%00%(committerdate:iso-strict)"
    done = await git("for-each-ref", f"--format={fields}", f"{KEPT}/", cwd=root)
    found: list[Commit] = []
    for line in filter(None, done.text.split("\n")):  # a subject may hold what else ends a line
        ref, sha, subject, when = line.split("\0")
        session, _, name = ref.removeprefix(f"{KEPT}/").partition("/")
        if name not in (ASIDE, ASIDE_TIP, BASE, DISCARDED, TAKE, TAKEN) and not name.endswith(INDEX_SUFFIX):
            found.append(
                Commit(
                    sha=sha,
                    short=sha[:_SHORT],
                    subject=subject,
                    when=_utc(when),
                    session_id=session,
                    handoff_id=name,
                )
            )
    # git knows whole seconds: the last snapshot of a session comes behind a handoff of the same one.
    found.sort(key=lambda one: (one.when, one.handoff_id.startswith("end-"), one.handoff_id), reverse=True)
    return found


async def kept_snapshot(root: Path, session_id: str, handoff_id: str) -> str:
    """The commit that is kept of a handoff; "" when none is, also for what is no id."""
    try:
        return await commit_of(root, kept_ref(session_id, handoff_id))
    except ValueError:
        return ""


async def branch_exists(root: Path, branch: str) -> bool:
    """Whether there is a branch of that name."""
    return bool(await commit_of(root, _full_name(branch)))


async def rewind(root: Path, sha: str) -> str:
    """Makes a branch `hub/rewind/<short>-<n>` at a snapshot; nothing else moves.

    Raises:
        HubError: NOT_FOUND; TRACKED for a commit of an agent's own that would put a `.hub` into the project.
    """
    full = await resolve(root, sha)
    if brought := await brought_by(root, full):
        raise HubError(
            Code.TRACKED,
            f"{full[:_SHORT]} brings {', '.join(brought)}, which hub would read once it is checked out.",
            hint=f"See what else it holds: git show --stat {full[:_SHORT]}; hub's own snapshots: hub history --commits",
        )
    for number in range(1, _REWINDS):
        name = f"hub/rewind/{full[:_SHORT]}-{number}"
        if await commit_of(root, f"refs/heads/{name}"):
            continue
        if await move_refs([(f"refs/heads/{name}", full, "0" * len(full))], "hub: rewind", cwd=root):
            return name
    raise HubError(Code.GIT_FAILED, f"There are {_REWINDS} rewinds of {full[:_SHORT]} already.")


async def _diff(root: Path, old: str, new: str, where: Mapping[str, str] | None = None) -> Diff:
    """As the user's own git would show it."""
    async with as_added(root, old, new, where or {}) as (before, after, known):
        stat, cut = await git_capped(
            "diff-tree",
            *_DIFF,
            "--stat=120,80",
            before,
            after,
            "--",
            cwd=root,
            limit=_STAT_LIMIT,
            where=known,
        )
        patch, truncated = await git_capped(
            "diff-tree", *_DIFF, "--patch", before, after, "--", cwd=root, limit=DIFF_LIMIT, where=known
        )
    summary, text = (part.decode("utf-8", "replace") for part in (stat, patch))
    if cut:
        summary = f"{summary.rpartition(chr(10))[0]}\n... (more files changed than can be shown)\n"
    if truncated:
        see = f"; see: git diff {before[:_SHORT]} {after[:_SHORT]}" if not known else ""
        more = f"... (cut at {DIFF_LIMIT} bytes{see})"
        text = f"{text.rpartition(chr(10))[0]}\n{more}\n"
    return Diff(summary=summary, diff=text, truncated=truncated or cut)


def _full_name(branch: str) -> str:
    """What git is asked for where a branch is given by name, or by a full id."""
    return branch if re.fullmatch(r"[0-9a-f]{40,64}", branch) else f"refs/heads/{branch}"


def _utc(when: str) -> str:
    """Times of hub's commits are UTC; git writes that as an offset."""
    return re.sub(r"\+00:00$", "Z", when)


_ATTEMPTS = 3


@contextlib.asynccontextmanager
async def live_tree(worktree: Path, root: Path) -> AsyncIterator[tuple[str, Mapping[str, str]]]:
    """The tree that a snapshot of the worktree would have, and the environment in which git knows it.

    Raises:
        HubError: As `tree_hash`.
    """
    ground = await open_ground(worktree, root)
    shadow, base = ground.shadow, await base_tree(ground.shadow)
    with throwaway(shadow.git_dir, "live") as directory:
        aside = _aside(shadow, directory)
        for _ in range(_ATTEMPTS):
            work = await gather(shadow, await scan(shadow), await tracked_paths(ground))
            with contextlib.suppress(MovingError):
                made = await store_commit(
                    aside, CommitDraft(base, (), "as it is now\n", int(time.time())), work, settle=True
                )
                yield made.tree, more_objects(aside.objects)
                return
    raise HubError(Code.GIT_FAILED, f"{worktree} keeps changing while it is being read.")


def _aside(shadow: Shadow, directory: Path) -> Shadow:
    """The same working tree, with a git directory of its own that reads the repository's objects."""
    objects = directory / "objects"
    for name in ("objects/info", "refs", "info"):
        (directory / name).mkdir(parents=True)
    for name in ("HEAD", "config", "info/attributes"):
        shutil.copyfile(shadow.git_dir / name, directory / name)
    (objects / "info" / "alternates").write_bytes(os.fsencode(shadow.objects) + b"\n")
    return attrs.evolve(shadow, git_dir=directory, objects=objects)
