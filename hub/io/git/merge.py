"""Several commits made one, without a working tree.

Owns: the commit that a node with several dependencies begins at, the user's work as the commit a run begins at, and one
commit's changes put on top of another.
Must not: touch a working tree, an index, HEAD or a branch; leave half a merge anywhere; run a hook, a filter or a
merge program.

The merge is git's own (`merge-tree`), in a bare git directory of hub's that shares the repository's objects, the note of
where a shallow history ends, and nothing else: a repository's configuration can name a program for merging, agents can
write it, and here it does not exist. What is merged is what `git add` would have made of the files (`converting`): sessions'
commits have them as they lay on the disk, where each line of one may differ. The same commits in the same order give the
same commit, date and all: after a crash it is simply made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hub.domain.text.figures import first_of
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git.converting import as_added
from hub.io.git.env import git
from hub.io.git.refs import (
    BASE,
    GitCommit,
    commit_tree,
    kept_ref,
    merge_base,
    move_refs,
    read_commits,
)
from hub.io.git.shadow import bare
from hub.io.git.worktree import carry
from hub.io.project.places import Places

_CONFLICT = 1
_NO_SUCH_OPTION = 129


async def run_base(root: Path, run_id: str, head: str, apart: Sequence[str] = ()) -> str:
    """A commit with the user's uncommitted work on top of `head`, or `head` itself; kept from git's collector.

    The user's index and tree are only read. Asked again for the same run it gives what it gave before. `apart`: as for
    `carry`.

    Raises:
        HubError: NO_COMMIT, NO_SPACE, READ_ONLY, NO_PERMISSION, GIT_FAILED.
    """
    name = kept_ref(run_id, BASE)
    (known,) = await read_commits([name], cwd=root)
    if known is not None:
        return known.sha
    made = await carry(root, head, apart=apart)
    await move_refs([(name, made, "0" * len(made))], "hub: pipeline began", cwd=root)
    return made


async def merge_bases(root: Path, commits: Sequence[str], message: str) -> str:
    """One commit that holds the work of all of these: one of them where it holds the others, else a merge.

    Args:
        root: The project.
        commits: Full ids; the first one's side comes first.
        message: Of each merge that has to be made.

    Raises:
        HubError: MERGE_CONFLICT with the files in `files`, and nothing was made that anything points to;
            BRANCH_MISSING when a commit is gone; GIT_FAILED.
    """
    directory, where = await bare(root, Places(root).git_dir / "merge")
    found = await read_commits(commits, cwd=directory, where=where)
    known = [commit for commit in found if commit is not None]
    if len(known) < len(commits):
        gone = [sha for sha, commit in zip(commits, found, strict=True) if commit is None]
        raise HubError(Code.BRANCH_MISSING, f"The work of a dependency is gone: commit {gone[0][:12]}.")
    merged = known[0]
    for commit in known[1:]:
        merged = await _both(root, directory, where, (merged, commit), message)
        failpoints.hit("pipeline.merged")
    return merged.sha


async def applied(root: Path, base: str, ours: str, theirs: str) -> str:
    """The tree of the commit `ours` with all that the tree `theirs` has changed since the tree `base`.

    Raises:
        HubError: MERGE_CONFLICT with the files in `files`; GIT_FAILED.
    """
    directory, where = await bare(root, Places(root).git_dir / "merge")
    (mine,) = await read_commits([ours], cwd=directory, where=where)
    if mine is None:
        raise HubError(Code.BRANCH_MISSING, "A commit that the work builds on is gone.")
    sides = await _sides(directory, where, base, (mine.tree, theirs), mine.when)
    return await _merged_tree(directory, where, sides, sides)


async def _sides(
    directory: Path, where: dict[str, str], base: str, trees: Iterable[str], when: int
) -> list[str]:
    """Commits with these trees on top of one with the base: `merge-tree` finds that by itself."""
    stand = await commit_tree(base, (), "base\n", when, cwd=directory, where=where)
    return [await commit_tree(tree, (stand,), "side\n", when, cwd=directory, where=where) for tree in trees]


async def _both(
    root: Path, directory: Path, where: dict[str, str], both: tuple[GitCommit, GitCommit], message: str
) -> GitCommit:
    one, other = both
    common = await merge_base(one.sha, other.sha, cwd=directory, where=where)
    for commit, holder in ((other, one), (one, other)):
        if common == commit.sha:
            return holder
    sides = await _as_added(root, directory, where, both, common) if common else (one.sha, other.sha)
    tree = await _merged_tree(directory, where, sides, (one.sha, other.sha))
    when = max(one.when, other.when)
    sha = await commit_tree(tree, (one.sha, other.sha), message, when, cwd=directory, where=where)
    return GitCommit(sha, tree, (one.sha, other.sha), when)


async def _as_added(
    root: Path, directory: Path, where: dict[str, str], both: tuple[GitCommit, GitCommit], common: str
) -> Sequence[str]:
    """The two commits, or such in their place as git would have made of what they have changed since `common`."""
    began = [f"{common}^{{tree}}", *(commit.tree for commit in both)]
    base, *trees = began
    for side in (0, 1, 0):  # what the second one finds in the base counts for the first one too
        async with as_added(root, base, trees[side], {}, keep=True, pointers=False) as (base, trees[side], _):
            pass
    if [base, *trees] == began:
        return [commit.sha for commit in both]
    return await _sides(directory, where, base, trees, both[0].when)


async def _merged_tree(
    directory: Path, where: dict[str, str], sides: Sequence[str], named: Sequence[str]
) -> str:
    args = ("--write-tree", "-z", "--name-only", "--no-messages")
    done = await git(
        "merge-tree", *args, *sides, cwd=directory, where=where, accept=(0, _CONFLICT, _NO_SUCH_OPTION)
    )
    tree, *names = done.out.decode("utf-8", "replace").rstrip("\0").split("\0")
    if done.code == 0:
        return tree
    if done.code == _CONFLICT:
        raise _conflict(named, list(dict.fromkeys(filter(None, names))))
    raise HubError(
        Code.GIT_FAILED,
        "This git cannot merge without a working tree.",
        hint="Install git 2.38 or newer, or let each node depend on one node only.",
    )


def _conflict(named: Sequence[str], files: list[str]) -> HubError:
    detail = f"{' and '.join(sha[:12] for sha in named)} change the same lines: {first_of(files)}."
    return HubError(Code.MERGE_CONFLICT, detail, files=files)
