"""The folder `.hub` itself: whether it may be used, and whether hub made it here.

Owns: the refusal of a folder that is a link, another user's, open to others or tracked by git; the stamp that says hub
made it at this place; and what happens to the contents of one without it.
Must not: delete anything, touch a folder that it refuses, or judge a single record (`sealed` does).

Every record hub believes is sealed on its own. But there is more in the folder than records: git directories, run
folders, briefs. The stamp answers for all of that at once: where it is missing, nothing in the folder is hub's.

Tests: tests/hub/io/project/test_hub_dir.py, tests/security/test_hub_in_a_branch.py
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from shlex import quote

from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors
from hub.io.files.sealed import NotSealed, read_sealed, seal_key, write_sealed
from hub.io.project.places import Places, make_private_dir

STAMP = "stamp.json"
_TEXT = b'{"madeBy":"hub"}'
_LIMIT = 4096
_SHOWN = 5


def insist_usable(root: Path) -> None:
    """Refuse a `.hub` that cannot be the user's own. Changes nothing; one that is not there is fine.

    Raises:
        HubError: As `insist_private`; TRACKED when git tracks it.
    """
    insist_private(root)
    tracked = tracked_files(root)
    if tracked:
        shown = ", ".join(tracked[:_SHOWN]) + (", ..." if len(tracked) > _SHOWN else "")
        raise HubError(Code.TRACKED, f"git tracks {shown}: a repository may not bring hub's own records.")


def insist_private(root: Path) -> None:
    """The part of `insist_usable` that asks nobody: for whoever is about to read a file in it.

    Raises:
        HubError: NO_PERMISSION when it is a link, no folder, another user's, or may be written by others.
    """
    path = root / ".hub"
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise HubError(
                Code.NO_PERMISSION,
                f"{path} is a link or no folder.",
                hint=f"Move it away: mv {quote(str(path))} {quote(f'{path}.old')}",
            )
        if found.st_uid != os.geteuid():
            raise HubError(Code.NO_PERMISSION, f"{path} belongs to another user.")
        if found.st_mode & 0o022:
            raise HubError(
                Code.NO_PERMISSION,
                f"{path} may be written by others.",
                hint=f"See that nobody has put anything there, then run: chmod 700 {quote(str(path))}",
            )


def tracked_files(root: Path) -> list[str]:
    """What git tracks of `.hub` in the index or in HEAD, in any spelling that a file system may take for it."""
    # With all of git's room; whoever only looks asks no git.
    from hub.io.git.guard import environment
    from hub.io.git.progress import ran

    for tree in (("--with-tree=HEAD",), ()):
        env = environment({"GIT_LITERAL_PATHSPECS": "0"}, [("safe.directory", "*")])
        words = ("ls-files", "-z", "--cached", *tree, "--", ":(top,icase).hub")
        code, out, err = ran(*words, root=root, env=env)
        if code == 0:
            names = filter(None, out.split(b"\0"))
            return list(dict.fromkeys(name.decode("utf-8", "backslashreplace") for name in names))
    raise HubError(Code.GIT_FAILED, f"git ls-files: {err.decode('utf-8', 'replace').strip()[:400]}")


def stamped(places: Places) -> bool:
    """Whether hub made the folder, at this place and on this machine. Changes nothing."""
    try:
        read_sealed(places.hub_dir / STAMP, _LIMIT)
    except (FileNotFoundError, NotSealed):
        return False
    return True


def claim(places: Places) -> list[HubError]:
    """Makes the folder hub's own; to be called while the project's lock is held.

    What a folder without the stamp holds is moved below `unsealed-<ts>` in it, whole, and never read; but for the
    worktrees, which stay where git knows them, and the keys, which people write by hand.

    Returns:
        What the user must be told; nothing when the folder was hub's already, or empty.

    Raises:
        HubError: As `write_sealed`. Nothing was moved where there is no place for hub's key.
    """
    if stamped(places):
        return []
    seal_key()  # where none can be kept, nothing is moved
    foreign = [entry for entry in sorted(places.hub_dir.iterdir()) if not _stays(entry)]
    aside = places.hub_dir / f"unsealed-{time.time_ns() // 1_000_000}"
    with coded_errors(places.hub_dir):
        if foreign:
            make_private_dir(aside)
        for entry in foreign:
            entry.rename(aside / entry.name)
    write_sealed(places.hub_dir / STAMP, _TEXT)
    told = [_not_ours(places, aside)] if foreign else []
    return [*told, _keys_found(places)] if places.dotenv.exists() else told


def insist_stamped(places: Places) -> None:
    """For whoever only reads.

    Raises:
        HubError: NOT_SEALED.
    """
    if not stamped(places):
        raise HubError(
            Code.NOT_SEALED,
            f"{places.hub_dir} was not made by this hub at this place: nothing in it is believed.",
            hint="Start anew beside it, everything is kept: hub daemon",
        )


def _keys_found(places: Places) -> HubError:
    return HubError(
        Code.NOT_SEALED,
        f"{places.dotenv} was there before hub was: its keys are used.",
        hint=f"If you did not write it, remove it: rm {quote(str(places.dotenv))}",
    )


def _not_ours(places: Places, aside: Path) -> HubError:
    return HubError(
        Code.NOT_SEALED,
        f"{places.hub_dir} was not made by this hub at this place: it was copied or moved here, came with the project,"
        f" or is an earlier hub's. Nothing in it was believed; it is kept in {aside.name}, and earlier work on hub/*.",
        # In a copy it would make the original's worktrees the copy's.
        hint="If the folder was moved, not copied, take its worktrees along: git worktree repair .hub/worktrees/*",
    )


def _stays(entry: Path) -> bool:
    """The lock that is held, sessions' work, which git knows by its path, empty folders, and keys written by hand."""
    found = entry.lstat()
    if stat.S_ISDIR(found.st_mode):
        return entry.name == "worktrees" or not any(entry.iterdir())
    if entry.name == "lock":
        return True
    own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1
    return entry.name == ".env" and own
