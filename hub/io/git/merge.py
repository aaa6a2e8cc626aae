"""Several commits made one, without a working tree.

Owns: the commit that a node with several dependencies begins at, the user's work as the commit a run begins at, and one
commit's changes put on top of another.
Must not: touch a working tree, an index, HEAD or a branch; leave half a merge anywhere; run a hook, a filter or a
merge program.

The merge is git's own (`merge-tree`), in a bare git directory of hub's that shares the repository's objects, the note of
where a shallow history ends, and nothing else: a repository's configuration can name a program for merging, agents can
write it, and here it does not exist. The same commits in the same order give the same commit, date and all: after a crash
it is simply made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hub.domain.text.figures import first_of
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.atomic import coded_errors
from hub.io.git.env import effective_config, git
from hub.io.git.layout import common_dir
from hub.io.git.refs import BASE, GitCommit, commit_tree, is_ancestor, kept_ref, move_refs, read_commits
from hub.io.git.worktree import carry
from hub.io.project.places import Places, make_private_dir

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
    (known,) = await read_commits([name], cwd=root, where={})
    if known is not None:
        return known.sha
    made = await carry(root, head, apart=apart)
    await move_refs([(name, made, "0" * len(made))], "hub: pipeline began", cwd=root, where={})
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
        merged = await _both(directory, where, merged, commit, message)
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
    # `merge-tree` finds the base by itself: each side is a commit on top of it.
    stand = await commit_tree(base, (), "base\n", mine.when, cwd=directory, where=where)
    sides = [
        await commit_tree(tree, (stand,), "side\n", mine.when, cwd=directory, where=where)
        for tree in (mine.tree, theirs)
    ]
    return await _merged_tree(directory, where, *sides)


async def _both(
    directory: Path, where: dict[str, str], one: GitCommit, other: GitCommit, message: str
) -> GitCommit:
    if await is_ancestor(other.sha, one.sha, cwd=directory, where=where):
        return one
    if await is_ancestor(one.sha, other.sha, cwd=directory, where=where):
        return other
    tree = await _merged_tree(directory, where, one.sha, other.sha)
    when = max(one.when, other.when)
    sha = await commit_tree(tree, (one.sha, other.sha), message, when, cwd=directory, where=where)
    return GitCommit(sha, tree, (one.sha, other.sha), when)


async def _merged_tree(directory: Path, where: dict[str, str], one: str, other: str) -> str:
    args = ("--write-tree", "-z", "--name-only", "--no-messages")
    done = await git(
        "merge-tree", *args, one, other, cwd=directory, where=where, accept=(0, _CONFLICT, _NO_SUCH_OPTION)
    )
    tree, *names = done.out.decode("utf-8", "replace").rstrip("\0").split("\0")
    if done.code == 0:
        return tree
    if done.code == _CONFLICT:
        raise _conflict(one, other, list(dict.fromkeys(filter(None, names))))
    raise HubError(
        Code.GIT_FAILED,
        "This git cannot merge without a working tree.",
        hint="Install git 2.38 or newer, or let each node depend on one node only.",
    )


def _conflict(one: str, other: str, files: list[str]) -> HubError:
    detail = f"{one[:12]} and {other[:12]} change the same lines: {first_of(files)}."
    return HubError(Code.MERGE_CONFLICT, detail, files=files)


async def bare(root: Path, directory: Path) -> tuple[Path, dict[str, str]]:
    """A bare git directory of hub's, made anew so that nothing left in it counts, and the environment that names it."""
    common = common_dir(root)
    settings = await effective_config(root)
    lines = ["[core]", "repositoryFormatVersion = 1", "bare = true"]
    if settings.get("extensions.objectformat") == "sha256":
        lines += ["[extensions]", "objectFormat = sha256"]
    with coded_errors(directory):
        for inner in (
            directory.parent.parent,
            directory.parent,
            directory,
            *(directory / name for name in ("refs", "objects", "info")),
        ):
            make_private_dir(inner)
        (directory / "info" / "attributes").unlink(missing_ok=True)
        (directory / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        temp = directory / "config.new"
        temp.write_text("\n".join(lines) + "\n", encoding="utf-8")
        temp.replace(directory / "config")
    return directory, {
        "GIT_DIR": str(directory),
        "GIT_OBJECT_DIRECTORY": str(common / "objects"),
        # Where there is one, git does not ask for what came before.
        "GIT_SHALLOW_FILE": str(common / "shallow"),
    }
