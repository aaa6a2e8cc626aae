"""The user's own checkout brought one commit further, as a fast-forward would.

Owns: what of the user's is in the way, and the order in which files, index and branch follow.
Must not: overwrite or remove a byte that is in no commit; reset, clean or stash; run a hook or a filter.
Tests: tests/hub/io/git/test_taking.py

git itself moves the files (`read-tree -m -u`), which refuses whatever is in its way. What is there already exactly as it
is to be is in nobody's way: so a call that was cut off is finished by the next one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs
import trio

from hub.domain.text.figures import first_of
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git import lfs
from hub.io.git.env import effective_config, git
from hub.io.git.guard import Config, filter_overrides
from hub.io.git.layout import own_git_dir
from hub.io.git.meaning import LockedError
from hub.io.git.refs import head_commit, move_refs
from hub.io.git.scan import Entry, raw_diff, show, tree_diff
from hub.io.git.store import put_entries

Pairs = Mapping[bytes, tuple[Entry | None, Entry | None]]
_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
}
_RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty")
_LINK = "160000"
_REGULAR = ("100644", "100755")


@attrs.frozen
class UserStanding:
    """Where the user stands."""

    branch: str
    head: str


async def standing(root: Path) -> UserStanding:
    """The branch that is checked out, and its commit.

    Raises:
        HubError: UNCOMMITTED while a merge or the like is under way or no branch is checked out; NO_COMMIT.
    """
    directory = own_git_dir(root)
    for name, what in _UNDER_WAY.items():
        if (directory / name).exists():
            raise HubError(
                Code.UNCOMMITTED,
                f"git {what} is under way in {root}.",
                hint=f"Finish it, or git {what} --abort; then try again",
            )
    named = await git("symbolic-ref", "-q", "HEAD", cwd=root, accept=(0, 1))
    head = await head_commit(root)
    if not head:
        raise HubError(Code.NO_COMMIT)
    if not named.text:
        raise HubError(
            Code.UNCOMMITTED,
            "No branch is checked out.",
            hint="Check one out: git switch <branch>   Or make one of the result: hub take --branch <name>",
        )
    return UserStanding(named.text.removeprefix("refs/heads/"), head)


async def bring(root: Path, here: UserStanding, new: str, why: str) -> None:
    """Files, index and branch at the commit `new`; what is uncommitted beside it stays as it is.

    Raises:
        HubError: UNCOMMITTED with the files in `files`, and nothing was touched; GIT_FAILED.
    """
    config = filter_overrides(await effective_config(root))
    await git("update-index", "-q", "--refresh", cwd=root, config=config, accept=(0, 1, 128))
    changed = await tree_diff(here.head, new, cwd=root)
    ready = await _insist_free(root, changed, here.head, config)
    umask = ~root.stat().st_mode & 0o077  # noqa: ASYNC240  # one stat beside the starts of git
    if ready:
        # As nobody has seen on the disk yet: git looks there for itself.
        await put_entries(ready, cwd=root)
        await git("update-index", "-q", "--refresh", cwd=root, config=config, accept=(0, 1, 128))
    failpoints.hit("take.files")
    try:
        await git("read-tree", "-m", "-u", here.head, new, cwd=root, config=config, umask=umask)
    except LockedError:
        raise
    except HubError as error:
        if error.code is not Code.GIT_FAILED:
            raise
        raise HubError(Code.UNCOMMITTED, f"Your own files are in the way: {error.detail}") from error
    await _fill(root, changed)
    failpoints.hit("take.index")
    if not await move_refs([(f"refs/heads/{here.branch}", new, here.head)], why, cwd=root):
        detail = f"{here.branch} moved while the result was taken; its files are staged and not committed."
        raise HubError(Code.GIT_FAILED, detail, hint="See them: git status   Then commit them: git commit")


async def _fill(root: Path, changed: Pairs) -> None:
    """The bytes of what Git LFS keeps, where its user has them in the checkout."""
    if await lfs.fills(root):
        files = {path: new for path, (_, new) in changed.items() if new}
        store = await lfs.store_of(root)
        filled = await trio.to_thread.run_sync(lfs.fill, root, files, store)
        await put_entries({path: files[path] for path in filled}, cwd=root)


async def insist_committed(root: Path, head: str, files: Collection[str]) -> None:
    """A session may have gone on in lines that are in no commit of the user's yet: those it cannot be merged with.

    Raises:
        HubError: UNCOMMITTED with those of the files that are not as they are in `head`.
    """
    config = filter_overrides(await effective_config(root))
    changed = await git("diff-index", *_RAW, head, cwd=root, config=config)
    new = await git("ls-files", "--others", "-z", "--", *files, cwd=root, config=config) if files else None
    mine = {show(path) for path in (*raw_diff(changed.out), *(new.out.split(b"\0") if new else ()))}
    if mine & set(files):
        raise _in_the_way(sorted(mine & set(files)))


async def _insist_free(root: Path, changed: Pairs, head: str, config: Config) -> dict[bytes, Entry]:
    """What of the change is in the working tree already; anything else of the user's in its place is refused."""
    staged = raw_diff((await git("diff-index", "--cached", *_RAW, head, cwd=root, config=config)).out)
    edited = raw_diff((await git("diff-files", *_RAW, cwd=root, config=config)).out)
    blocked: list[bytes] = []
    doubtful: dict[bytes, Entry] = {}
    for path, (old, new) in changed.items():
        if old is None:
            if (other := _occupied(root, path, changed, new)) is not None and other != path:
                blocked.append(other)
                continue
            touched = other is not None or path in staged
        else:
            if (
                old[0] == _LINK
                and new is not None
                and new[0] != _LINK
                and (kept := _kept(root, path, changed))
            ):
                blocked.append(kept)  # a submodule gives way to a file
                continue
            touched = path in staged or path in edited
        if not touched:
            continue
        index = staged[path][1] if path in staged else old
        if new is None:
            if _there(root, path):
                blocked.append(path)
        elif index in (old, new):
            doubtful[path] = new
        else:
            blocked.append(path)
    ready = await _same(root, doubtful, config)
    blocked += [path for path in doubtful if path not in ready]
    if blocked:
        raise _in_the_way(sorted({show(path) for path in blocked}))
    return ready


def _there(root: Path, path: bytes) -> bool:
    return os.path.lexists(_full(root, path))


def _occupied(root: Path, path: bytes, changed: Pairs, new: Entry | None) -> bytes | None:
    """What stands where a new file is to be, the file itself or something above it; None where the place is free."""
    steps = path.split(b"/")
    for depth in range(1, len(steps) + 1):
        here = b"/".join(steps[:depth])
        try:
            mode = os.lstat(_full(root, here)).st_mode
        except OSError:
            return None
        if depth < len(steps) and not stat.S_ISDIR(mode):
            gone = here in changed and changed[here][1] is None
            return None if gone else here
    if not stat.S_ISDIR(mode):
        return path
    return None if new is not None and new[0] == _LINK else _kept(root, path, changed)


def _kept(root: Path, folder: bytes, changed: Pairs) -> bytes | None:
    """A file in a folder that does not leave with the change: git removes what is ignored, and whole submodules."""
    for place, folders, files in os.walk(_full(root, folder)):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*files, *links):
            path = os.path.relpath(os.path.join(place, name), os.fsencode(root))
            if path not in changed or changed[path][1] is not None:
                return path
    return None


async def _same(root: Path, wanted: Mapping[bytes, Entry], config: Config) -> dict[bytes, Entry]:
    """Those of the files that have the wanted content and mode already."""
    there: list[bytes] = []
    for path, (mode, _) in wanted.items():
        try:
            found = os.lstat(_full(root, path)).st_mode
        except OSError:
            continue
        alike = stat.S_ISREG(found) and mode in _REGULAR and bool(found & 0o100) == (mode == "100755")
        if alike and b"\n" not in path:
            there.append(path)
    if not there:
        return {}
    stdin = b"".join(path + b"\n" for path in there)
    done = await git("hash-object", "--stdin-paths", cwd=root, config=config, stdin=stdin)
    hashed = dict(zip(there, done.text.split("\n"), strict=True))
    return {path: wanted[path] for path, oid in hashed.items() if oid == wanted[path][1]}


def _full(root: Path, path: bytes) -> bytes:
    return os.path.join(os.fsencode(root), path)


def _in_the_way(files: list[str]) -> HubError:
    return HubError(
        Code.UNCOMMITTED,
        f"Your uncommitted work is in the way: {first_of(files)}.",
        files=files,
    )
