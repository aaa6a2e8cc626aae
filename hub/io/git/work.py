"""What a session has made, as a change that can be put on top of any commit.

Owns: where its work begins, what of it is handed in, and how far it was taken before.
Must not: touch the user's tree, index or branch, or move a ref.
Tests: tests/hub/io/git/test_taking.py

A session's branch begins where its user stood, maybe with unfinished work on top, or where an earlier session ended. What
is handed over is everything since that is not in the user's hands yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from hub.domain.result.message import left_behind
from hub.domain.session import ID
from hub.errors import Code, HubError
from hub.io.git.converting import as_added
from hub.io.git.env import git
from hub.io.git.own_folder import folder_of
from hub.io.git.refs import (
    ASIDE,
    ASIDE_TIP,
    BASE,
    DISCARDED,
    KEPT,
    TAKE,
    TAKEN,
    branch_gone,
    branch_of,
    is_ancestor,
    kept_ref,
    merge_base,
    read_commits,
)
from hub.io.git.scan import show
from hub.io.git.shadow import throwaway
from hub.io.git.store import put_entries
from hub.io.project.places import Places, make_private_dir

_HEADS = "refs/heads/hub/"
PUT_ASIDE = (ASIDE_TIP, ASIDE)
IN_HAND = ((TAKEN, TAKE), PUT_ASIDE)
"""What says how far a session's work was handed over, and in which commit."""


@attrs.frozen(kw_only=True)
class BranchChange:
    """The change that a session's branch is."""

    session_id: str
    tip: str
    """The commit the branch is at."""
    base: str
    """The newest commit of which the user has everything, or which the session began with."""
    began: str
    """What that has, as git would have stored it; or as the user's commit has it, where that is the same."""
    tree: str
    """What the tip has, as git would have stored it, without what is not handed in."""
    left_out: tuple[str, ...]
    """New files that are not handed in: `.hub`, bytecode, caches."""
    taken_as: str
    """The commit in which the user took it before; "" = never."""
    whole: bool
    """Whether nothing was done since it was taken."""


async def work_of(root: Path, session_id: str, onto: str) -> BranchChange:
    """The work of a session, seen from the commit that it is to come upon.

    Raises:
        HubError: BRANCH_MISSING.
    """
    names = [f"refs/heads/{branch_of(session_id)}", *(kept_ref(session_id, n) for n in (BASE, TAKE, TAKEN))]
    tip, start, take, taken = await read_commits(names, cwd=root)
    if tip is None:
        raise await branch_gone(root, session_id)
    base = await _base(root, tip.sha, start.sha if start else "", onto)
    (first,) = await read_commits([base], cwd=root)
    began = first.tree if first else tip.tree
    async with as_added(root, began, tip.tree, {}, keep=True, mine=onto) as (began, ended, _):
        tree, left_out = await _handed_in(root, base, tip.sha, ended)
    return BranchChange(
        session_id=session_id,
        tip=tip.sha,
        base=base,
        began=began,
        tree=tree,
        left_out=tuple(left_out),
        taken_as=take.sha if take and taken else "",
        whole=taken is not None and taken.sha == tip.sha,
    )


async def _base(root: Path, tip: str, start: str, onto: str) -> str:
    """The newest of: where the session, or one whose work it goes on with, began; what the user has of it already."""
    common = await merge_base(onto, tip, cwd=root)
    base = await _chain(root, start, onto) if start else common
    if not base:
        raise HubError(Code.BRANCH_MISSING, "The session's work has nothing in common with what you are on.")
    for one in (common, *await in_hand(root, tip, onto)):
        if one and await is_ancestor(base, one, cwd=root):
            base = one
    return base


async def _chain(root: Path, start: str, onto: str) -> str:
    """Where the first of the sessions began whose work, which the user has not, this one goes on with."""
    options = (f"--merged={start}", f"--no-merged={onto}")
    gone = f"{KEPT}/*/{DISCARDED}"  # its branch was let go, and its work is in this one still
    listed = await git("for-each-ref", "--format=%(refname)", *options, _HEADS, gone, cwd=root)
    names = (
        line.removeprefix(_HEADS).removeprefix(f"{KEPT}/").removesuffix(f"/{DISCARDED}")
        for line in listed.text.splitlines()
    )
    ids = [name for name in names if ID.fullmatch(name)]
    for earlier in await read_commits([kept_ref(one, BASE) for one in ids], cwd=root):
        if earlier is not None and await is_ancestor(earlier.sha, start, cwd=root):
            start = earlier.sha
    return start


async def in_hand(root: Path, tip: str, onto: str, marks: Sequence[tuple[str, str]] = IN_HAND) -> list[str]:
    """Commits of sessions' branches below `tip` of which `onto` has all the work: they were taken into it.

    Args:
        root: The project.
        tip: A session's branch.
        onto: The commit that may have it.
        marks: The names of the refs that say so: how far the work is in a commit, and in which.
    """
    listed = await git(
        "for-each-ref", "--format=%(refname) %(objectname)", f"--merged={tip}", f"{KEPT}/", cwd=root
    )
    far = dict(line.split(" ") for line in listed.text.splitlines())
    pairs = {
        name.removesuffix(mark) + commit: sha
        for name, sha in far.items()
        for mark, commit in marks
        if name.endswith(f"/{mark}")
    }
    found = await read_commits(list(pairs), cwd=root)
    return [
        sha
        for commit, sha in zip(found, pairs.values(), strict=True)
        if commit is not None and await is_ancestor(commit.sha, onto, cwd=root)
    ]


async def branch_with(root: Path, session_id: str, onto: str) -> str:
    """The one branch of the user's on which the work, or what it goes on with, was put aside; "" where none or several are.

    Args:
        root: The project.
        session_id: Whose work.
        onto: The user's own branch: what was merged into it is no longer aside.
    """
    listed = await git(
        "for-each-ref",
        "--format=%(refname)",
        f"--merged=refs/heads/{branch_of(session_id)}",
        f"{KEPT}/*/{ASIDE_TIP}",
        cwd=root,
    )
    found = set[str]()
    for name in listed.text.splitlines():
        aside = name.removesuffix(ASIDE_TIP) + ASIDE
        options = ("--format=%(refname:lstrip=2)", f"--contains={aside}", "refs/heads/")
        if not await is_ancestor(aside, onto, cwd=root):
            found.update((await git("for-each-ref", *options, cwd=root)).text.splitlines())
    own = sorted(name for name in found if not name.startswith("hub/"))
    return own[0] if len(own) == 1 else ""


async def _handed_in(root: Path, base: str, tip: str, tree: str) -> tuple[str, list[str]]:
    """The tree without what is not handed in, and what that is."""
    args = ("-r", "-z", "--name-only", "--no-renames", "--diff-filter=A")
    added = (await git("diff-tree", *args, base, tip, cwd=root)).out.split(b"\0")[:-1]
    known = {show(path): path for path in added}
    own = {path for path in added if folder_of(path) is not None}
    left = [*own, *(known[name] for name in left_behind(known) if known[name] not in own)]
    return await _without(root, tree, left) if left else tree, sorted(map(show, left))


async def _without(root: Path, tree: str, paths: Sequence[bytes]) -> str:
    places = Places(root)
    make_private_dir(places.git_dir)
    with throwaway(places.git_dir, "take") as directory:
        where = {"GIT_INDEX_FILE": str(directory / "index")}
        await git("read-tree", tree, cwd=root, where=where)
        await put_entries(dict.fromkeys(paths), cwd=root, where=where, zero="0" * len(tree))
        return (await git("write-tree", cwd=root, where=where)).text
