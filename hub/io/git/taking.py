"""A session's result, brought to its user.

Owns: the commit that is made of it, what keeps it from being made, and the order intent, effect, evidence.
Must not: change the session's branch or worktree, or overwrite what is in no commit (`checkout` sees to that).

`refs/hub/<session>/take` is the commit before anything of the user's moves; `refs/hub/<session>/taken` is how far the
session's branch has been taken, once it is. Whatever was cut off between the two is finished by asking again.
"""

from __future__ import annotations

import base64
import time
from pathlib import Path

import attrs

from hub.api.results import How, Taken
from hub.domain.missing import invalid_field
from hub.domain.result.message import CommitStory, message, slug
from hub.domain.text.figures import first_of
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git.aside import read as read_aside
from hub.io.git.checkout import UserStanding, bring, insist_committed, standing
from hub.io.git.converting import as_added
from hub.io.git.discarding import edited
from hub.io.git.env import git, git_capped
from hub.io.git.identity import HUB, identity
from hub.io.git.merge import applied, merge_bases
from hub.io.git.own_folder import brought_by
from hub.io.git.refs import (
    ASIDE,
    ASIDE_TIP,
    TAKE,
    TAKEN,
    GitCommit,
    commit_tree,
    is_ancestor,
    kept_ref,
    merge_base,
    move_refs,
    put_kept,
    read_commits,
)
from hub.io.git.scan import show
from hub.io.git.work import PUT_ASIDE, BranchChange, branch_with, in_hand, work_of
from hub.io.project.places import Places

_PATCH_LIMIT = 64 << 20
_STAT_LIMIT = 1 << 16
_SHORT = 12


async def take(root: Path, told: CommitStory, how: How, branch: str = "", main: str = "") -> Taken:
    """Bring what a session has made to its user: as one commit, a merge, a branch, or a patch.

    Args:
        root: The project.
        told: What the commit says of the session.
        how: As what.
        branch: The name of a branch that is to be made, or has earlier work of it; "" = that one, or a name for the task.
        main: What the session's branch left.

    Raises:
        HubError: NOTHING_TO_TAKE; UNCOMMITTED and MERGE_CONFLICT with the files in `files`; BRANCH_MISSING, TRACKED; USAGE
            where git knows no name for its user; INVALID where the branch is another's.
    """
    if how in (How.BRANCH, How.PATCH):
        return await _aside(root, told, how, branch, main)
    here = await standing(root)
    work = await work_of(root, told.session_id, here.head)
    if how is How.MERGE:
        await _insist_own(root, work, here.head)
    if work.whole and await is_ancestor(work.taken_as, here.head, cwd=root):
        detail = f"It was taken already, as {work.taken_as[:_SHORT]} on {here.branch}."
        raise await _nothing(root, work, detail, commit=work.taken_as, branch=here.branch)
    commit = await _commit(root, told, work, here, merge=how is How.MERGE)
    await put_kept(root, work.session_id, TAKE, commit)
    failpoints.hit("take.intended")
    await bring(root, here, commit, f"hub: take {told.session_id}")
    failpoints.hit("take.moved")
    await put_kept(root, work.session_id, TAKEN, work.tip)
    return await _answer(root, work, how, (here.head, commit), here.branch)


async def _commit(
    root: Path, told: CommitStory, work: BranchChange, here: UserStanding, *, merge: bool
) -> str:
    """The commit on top of where the user stands; the one of an earlier call, where that was cut off."""
    parents = (here.head, work.tip) if merge else (here.head,)
    try:
        if merge:
            made = await merge_bases(root, [here.head, work.tip], "merge\n")
            (found,) = await read_commits([made], cwd=root)
            async with as_added(root, here.head, found.tree if found else "", {}, keep=True) as (_, tree, _):
                pass
        else:
            tree = await applied(root, work.began, here.head, work.tree)
    except HubError as error:
        await insist_committed(root, here.head, error.extra.get("files", ()))
        raise _conflict(error, told.session_id, here.branch) from error
    (head, intended) = await read_commits([here.head, kept_ref(told.session_id, TAKE)], cwd=root)
    if head is None or head.tree == tree:
        await put_kept(root, work.session_id, TAKE, here.head)
        await put_kept(root, work.session_id, TAKEN, work.tip)
        detail = f"All that it changed is on {here.branch} already."
        raise await _nothing(root, work, detail, commit=here.head, branch=here.branch)
    if intended is not None and intended.tree == tree and intended.parents == parents:
        return intended.sha
    return await _made(root, told, tree, parents)


async def _made(root: Path, told: CommitStory, tree: str, parents: tuple[str, ...]) -> str:
    who = await identity(root)
    if who == HUB:
        raise HubError(
            Code.USAGE,
            "git does not know your name, under which the result is to be committed.",
            hint='Tell it: git config --global user.name "..." && git config --global user.email ...',
        )
    now = int(time.time())
    zone = time.strftime("%z", time.localtime(now))
    return await commit_tree(tree, parents, message(told), now, cwd=root, where=who.where, zone=zone)


async def _aside(root: Path, told: CommitStory, how: How, branch: str, main: str) -> Taken:
    """A branch with one commit where the session began, or a patch; the checkout is not touched."""
    heads = [f"refs/heads/{main}", main, "HEAD"] if main else ["HEAD"]
    onto = next((c.sha for c in await read_commits(heads, cwd=root) if c is not None), "")
    if not onto:
        raise HubError(Code.NO_COMMIT)
    work = await work_of(root, told.session_id, onto)
    if work.began == work.tree:
        raise await _nothing(root, work, "The session has changed nothing.")
    if how is How.PATCH:
        data, more = await git_capped(
            "diff-tree", "-r", "-M", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color",
            work.began, work.tree, "--", cwd=root, limit=_PATCH_LIMIT,
        )  # fmt: skip
        if more:
            raise HubError(Code.TOO_LARGE, f"The patch is larger than {_PATCH_LIMIT >> 20} MiB.")
        answer = await _answer(root, work, how, (work.began, work.tree), "")
        return attrs.evolve(answer, patch=base64.b64encode(data).decode())
    name = (
        branch
        or await branch_with(root, told.session_id, onto)
        or slug(told.task)
        or f"work-{told.session_id}"
    )
    await git("check-ref-format", "--branch", name, cwd=root)
    (there,) = await read_commits([f"refs/heads/{name}"], cwd=root)
    if there is None:
        parent, tree = await _footing(root, work, onto)
    else:
        parent, tree = there.sha, await _gone_on(root, told.session_id, name, there)
    if there is not None and there.tree == tree:  # asked again: it is all there
        parent = await merge_base(onto, there.sha, cwd=root)
        return await _answer(root, work, how, (parent or there.sha, there.sha), name)
    commit = await _made(root, told, tree, (parent,))
    await _put_aside(root, work, name, commit, there)
    return await _answer(root, work, how, (parent, commit), name)


async def _gone_on(root: Path, session_id: str, branch: str, there: GitCommit) -> str:
    """The tree of a branch that has earlier work of the session's, with what was done since.

    Raises:
        HubError: INVALID where the branch is another's, or checked out; MERGE_CONFLICT.
    """
    work = await work_of(root, session_id, there.sha)
    if not await in_hand(root, work.tip, there.sha, (PUT_ASIDE,)):
        raise _taken_name(branch)
    try:
        tree = await applied(root, work.began, there.sha, work.tree)
    except HubError as error:
        raise _conflict(error, session_id, branch) from error
    place = ("--format=%(worktreepath)", f"refs/heads/{branch}")
    if tree != there.tree and (checkout := (await git("for-each-ref", *place, cwd=root)).text):
        raise invalid_field(
            "branch", f"{branch} is checked out in {checkout}.", f"Take it there: hub take {session_id}"
        )
    return tree


async def _put_aside(
    root: Path, work: BranchChange, branch: str, commit: str, there: GitCommit | None
) -> None:
    """Branch and marks, in one step."""
    names = [f"refs/heads/{branch}", *(kept_ref(work.session_id, name) for name in (ASIDE, ASIDE_TIP))]
    _, *marks = await read_commits(names, cwd=root)
    new, old = (commit, commit, work.tip), (there, *marks)
    moves = [
        (name, sha, was.sha if was else "0" * len(sha))
        for name, sha, was in zip(names, new, old, strict=True)
    ]
    if not await move_refs(moves, "hub: take", cwd=root):
        raise _taken_name(branch)


def _taken_name(branch: str) -> HubError:
    why = f"There is a branch {branch} already, with other work."
    return invalid_field("branch", why, "Give another name: --branch")


async def _footing(root: Path, work: BranchChange, onto: str) -> tuple[str, str]:
    """The commit that a branch with the work stands on, and its tree: where the session left its user's branch.

    Where it began with unfinished work that it went on with in the same lines, it stands on a commit with that work.
    """
    parent = await merge_base(onto, work.tip, cwd=root)
    if parent and await is_ancestor(parent, work.base, cwd=root):
        try:
            return parent, await applied(root, work.began, parent, work.tree)
        except HubError as error:
            if error.code is not Code.MERGE_CONFLICT:
                raise
    return work.base, work.tree


async def _insist_own(root: Path, work: BranchChange, head: str) -> None:
    """A merge brings each commit as its agent made it, with what a later tree no longer has."""
    args = ("--format=", "--name-only", "-z", "--no-renames", "--diff-filter=AM", f"{head}..{work.tip}")
    names = (await git("log", *args, cwd=root)).out.split(b"\0")
    lent = read_aside(Places(root).kept_index(work.session_id))
    if copied := sorted({show(path) for path in map(bytes.strip, names) if path and lent.holds(path)}):
        raise HubError(
            Code.TRACKED,
            f"A commit of the branch has {first_of(copied)}, which is yours and was only lent to the agent.",
            hint="Take it as one commit, which leaves that out: hub take",
        )
    if brought := await brought_by(root, work.tip):
        raise HubError(
            Code.TRACKED,
            f"The branch brings {', '.join(brought)}, which hub would read in your project.",
            hint="Take it as one commit, which leaves that out: hub take",
        )


async def _answer(root: Path, work: BranchChange, how: How, change: tuple[str, str], branch: str) -> Taken:
    old, new = change
    names = (await git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, cwd=root)).out.split(
        b"\0"
    )[:-1]
    stat, _ = await git_capped(
        "diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--stat=80", old, new, "--",
        cwd=root, limit=_STAT_LIMIT,
    )  # fmt: skip
    return Taken(
        session_id=work.session_id,
        how=how,
        commit="" if how is How.PATCH else new,
        branch=branch,
        files=len(names),
        summary=stat.decode("utf-8", "replace"),
        left_out=[] if how is How.MERGE else list(work.left_out),
        patch="",
        worktree_has_more=await _has_more(root, work),
    )


async def _has_more(root: Path, work: BranchChange) -> bool:
    """Whether the session's worktree has what is in no snapshot."""
    (tip,) = await read_commits([work.tip], cwd=root)
    return tip is not None and await edited(root, Places(root).worktree(work.session_id), tip.tree)


async def _nothing(root: Path, work: BranchChange, detail: str, **held: str) -> HubError:
    """With the commit and the branch that hold it, for whoever puts it on record: a call may be cut off before it could."""
    if not await _has_more(root, work):
        return HubError(Code.NOTHING_TO_TAKE, detail, **held)
    return HubError(
        Code.NOTHING_TO_TAKE,
        f"{detail} But its worktree has more, which is in no snapshot.",
        hint=f"Look there, and copy what you want to keep: {Places(root).worktree(work.session_id)}",
        **held,
    )


def _conflict(error: HubError, session_id: str, branch: str) -> HubError:
    if error.code is not Code.MERGE_CONFLICT:
        return error
    files = list(error.extra.get("files", ()))
    return HubError(
        Code.MERGE_CONFLICT,
        f"The result and {branch} change the same lines: {first_of(files)}.",
        hint=(
            f"By hand: hub take {session_id} --branch NAME && git merge NAME   Or let an agent do it:"
            f' hub run --continue {session_id} "merge {branch} into this branch"'
        ),
        files=files,
    )
