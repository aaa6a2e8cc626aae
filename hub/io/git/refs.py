"""Commits and refs, read and moved.

Owns: reading commits in one git, moving refs with compare-and-swap, and the names hub gives its refs.
Must not: move a ref without saying from where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from hub.domain.session import ID
from hub.errors import Code, HubError
from hub.io.git.env import git
from hub.io.git.meaning import MISSING, failure

KEPT = "refs/hub"
BASE = "base"
"""`refs/hub/<session>/base`: where the session began."""
TAKE = "take"
"""`refs/hub/<session>/take`: the commit in which its user takes, or has taken, its result."""
TAKEN = "taken"
"""`refs/hub/<session>/taken`: how far its work has been taken."""
ASIDE, ASIDE_TIP = "aside", "aside-tip"
"""`refs/hub/<session>/aside`: the commit of a branch of its user's that has its work; `aside-tip`: as far as it was made."""
DISCARDED = "discarded"
"""`refs/hub/<session>/discarded`: where its branch was when its user let it go."""
INDEX_SUFFIX = "-index"
"""`refs/hub/<session>/<handoff>-index`: what the agent had staged and was nowhere else."""

OWNER = "Hub-Session"
"""The trailer of a snapshot that says whose it is."""
ANCHOR = "Hub-Audit"
"""The trailer of a snapshot that says where the audit log ended when it was made."""

_BOTH = 2
Where = Mapping[str, str]
_WHEN = re.compile(r"> (\d{1,11}) [+-]\d+$")


@attrs.frozen
class GitCommit:
    """What hub needs to know of a commit."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    when: int
    """Committer's date, epoch seconds; 0 where it has none, or one that git would not write again."""


def branch_of(session_id: str) -> str:
    """The branch of a session.

    Raises:
        ValueError: Not an id that hub made.
    """
    return f"hub/{_checked(session_id)}"


def kept_ref(session_id: str, name: str) -> str:
    """The ref that keeps a session's snapshot.

    Raises:
        ValueError: Not ids that hub made.
    """
    return f"{KEPT}/{_checked(session_id)}/{_checked(name)}"


def _checked(name: str) -> str:
    if not ID.fullmatch(name):
        raise ValueError(f"{name!r} is not an id")
    return name


async def read_commits(
    names: Sequence[str], *, cwd: Path, where: Where | None = None
) -> list[GitCommit | None]:
    """The commits that names resolve to, in one git; None for a name that resolves to none."""
    stdin = "".join(f"{name}^{{commit}}\n" for name in names).encode()
    done = await git("cat-file", "--batch", cwd=cwd, where=where, stdin=stdin)
    return [_parse(sha, bytes(body)) if sha else None for sha, body in objects(done.out)]


def objects(batch: bytes) -> Iterator[tuple[str, memoryview]]:
    """What `cat-file --batch` tells, in its order: the ids of objects with their bytes; "" for one that is not there."""
    at, whole = 0, memoryview(batch)
    while (end := batch.find(b"\n", at)) >= 0:
        words = batch[at:end].split(b" ")
        if words[-1] == b"missing" or len(words) != 3 or not words[2].isdigit():  # noqa: PLR2004  # id, type, size
            at = end + 1
            yield "", whole[:0]
            continue
        at = end + 1 + int(words[2]) + 1
        yield words[0].decode(), whole[end + 1 : at - 1]


def _parse(sha: str, body: bytes) -> GitCommit:
    head = body.decode("utf-8", "replace").partition("\n\n")[0]
    tree, parents, when = "", [], 0
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key == "committer" and (told := _WHEN.search(value)):
            when = int(told[1])
    return GitCommit(sha, tree, tuple(parents), when)


async def is_ancestor(old: str, new: str, *, cwd: Path, where: Where | None = None) -> bool:
    """Whether `old` is `new` or one of its ancestors."""
    if old == new:
        return True
    done = await git("merge-base", "--is-ancestor", old, new, cwd=cwd, where=where, accept=(0, 1))
    return done.code == 0


async def merge_base(one: str, other: str, *, cwd: Path, where: Where | None = None) -> str:
    """The newest commit that both have in common; "" where they have none."""
    done = await git("merge-base", one, other, cwd=cwd, where=where, accept=(0, 1))
    return done.text.split("\n")[0]


async def commit_tree(
    tree: str,
    parents: Sequence[str],
    message: str,
    when: int,
    *,
    cwd: Path,
    where: Where | None = None,
    zone: str = "+0000",
) -> str:
    """Makes a commit; moves nothing."""
    stamp = {"GIT_AUTHOR_DATE": f"@{when} {zone}", "GIT_COMMITTER_DATE": f"@{when} {zone}"}
    args = [word for parent in parents for word in ("-p", parent)]
    done = await git(
        "commit-tree", tree, *args, cwd=cwd, where={**(where or {}), **stamp}, stdin=message.encode()
    )
    return done.text


async def move_refs(
    moves: Sequence[tuple[str, str, str]], why: str, *, cwd: Path, where: Where | None = None
) -> bool:
    """Moves refs (name, new, old) in one transaction; False when one of them was not at `old`.

    `old` all zeros = the ref must not exist.
    """
    stdin = "".join(f"update {name}\0{new}\0{old}\0" for name, new, old in moves).encode()
    done = await git(
        "update-ref",
        "-m",
        why,
        "--create-reflog",
        "-z",
        "--stdin",
        cwd=cwd,
        where=where,
        stdin=stdin,
        accept=(0, 128),
    )
    if done.code == 0:
        return True
    if "cannot lock ref" in done.err and (
        "is at" in done.err or "already exists" in done.err or "expected" in done.err
    ):
        return False
    raise failure("update-ref", done.code, done.err)


async def put_kept(root: Path, session_id: str, name: str, sha: str) -> None:
    """Puts a ref of a session on a commit, wherever it was.

    Raises:
        HubError: GIT_FAILED: another command moves it at the same time.
    """
    ref = kept_ref(session_id, name)
    (old,) = await read_commits([ref], cwd=root)
    if old is None or old.sha != sha:
        move = (ref, sha, old.sha if old else "0" * len(sha))
        if not await move_refs([move], f"hub: {name}", cwd=root):
            raise HubError(
                Code.GIT_FAILED,
                "Another command is taking or discarding this result right now.",
                hint="Try again.",
            )


async def newest_kept(root: Path, session_id: str) -> GitCommit | None:
    """The newest commit of its own that is kept of a session: a snapshot, or where it began; None where there is none."""
    args = ("--sort=-committerdate", "--format=%(refname)", f"{KEPT}/{_checked(session_id)}/")
    names = (await git("for-each-ref", *args, cwd=root)).text.split()
    # What its user made of it is on branches of his, and what was staged on none.
    own = [name for name in names if not name.endswith((f"/{TAKE}", f"/{ASIDE}", INDEX_SUFFIX))]
    kept = [commit for commit in await read_commits(own, cwd=root) if commit]
    newest = kept[0] if kept else None
    for other in kept[1:]:
        if newest and other.when == newest.when and await is_ancestor(newest.sha, other.sha, cwd=root):
            newest = other
    return newest


async def newest_anchor(root: Path, session_id: str) -> str:
    """Where the audit log ended when the newest snapshot of a session was made; "" where none says it.

    Where it began may be another session's snapshot, of another audit log.
    """
    newest = await newest_kept(root, session_id)
    if newest is None:
        return ""
    form = f"--format=%(trailers:key={OWNER},valueonly)%(trailers:key={ANCHOR},valueonly)"
    told = (await git("show", "-s", form, newest.sha, "--", cwd=root)).text.split()
    return told[1] if len(told) == _BOTH and told[0] == session_id else ""


async def branch_gone(root: Path, session_id: str) -> HubError:
    """What is wrong where somebody deleted a session's branch, and the command that makes it anew."""
    branch, newest = branch_of(session_id), await newest_kept(root, session_id)
    if newest is None:
        return HubError(Code.BRANCH_MISSING, f"The branch {branch} is gone, and no snapshot is kept.")
    hint = f"Make it anew at its last snapshot: git branch {branch} {newest.sha[:12]}"
    return HubError(Code.BRANCH_MISSING, f"The branch {branch} is gone.", hint=hint)


async def commit_of(root: Path, name: str) -> str:
    """The full id of the commit that a name means; "" when it means none."""
    done = await git(
        "rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}", cwd=root, accept=(0, 1, 128)
    )
    return done.text if done.code == 0 else ""


async def head_commit(root: Path) -> str:
    """The commit that is checked out; "" when there is none yet.

    Raises:
        HubError: GIT_FAILED: there is one, and git cannot read it.
    """
    if sha := await commit_of(root, "HEAD"):
        return sha
    named = await git("rev-parse", "--verify", "-q", "HEAD", cwd=root, accept=(0, 1, 128))
    if named.code == 0:
        raise HubError(
            Code.GIT_FAILED,
            f"The commit that is checked out in {root}, {named.text[:12]}, is missing or cannot be read.",
            hint=MISSING,
        )
    return ""


async def resolve(root: Path, name: str) -> str:
    """The full id of a commit given as an id, whole or shortened.

    Raises:
        HubError: NOT_FOUND, also for anything that does not look like an id.
    """
    if re.fullmatch(r"[0-9a-f]{7,64}", name) and (sha := await commit_of(root, name)):
        return sha
    raise HubError(Code.NOT_FOUND, "There is no such snapshot.", hint="See the list: hub history --commits")
