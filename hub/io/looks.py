"""The last look at the machine, kept: what it asked, what it was told, and what it showed.

Owns: the file of a look, and the judgement whether asking again gives the same answers, so that the same is shown.
Must not: keep anything that was not redacted (of what was asked there are digests, names of files and their stamps),
write outside of hub's own state directory, or import more than `os`: whoever asks wants next to no import.

A look is a pure function of what it asked. So it is not trusted for a time: every question is asked once more, and a
single other answer makes it worth nothing. What may have changed within the tick of a file system's clock is not kept
at all (`hub.io.notes`). A file that is damaged, another version's or another user's is none.
"""

from __future__ import annotations

import marshal
import os
import stat

from hub import __version__
from hub.io.questions import SIZE, ask, checksum, digest, within
from hub.io.userdirs import state_dir
from hub.io.walk import OutOfTime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hub.io.kept_sessions import Memory
    from hub.io.questions import Answer, Question

    Entry = tuple[float, bool, bytes]
    """When it was last active, whether it is shown however long ago that was, and its JSON."""

FOLDER = "looks"
_MAGIC = b"hub look 2\n"
_MOST = 8 << 20
"""Bytes of a look; one that is larger is not kept."""
_FILES = 8
"""Looks that are kept: one a project and window."""
_OURS = ("targets", "target", "environment")
"""Questions after hub's own code, key and settings, and the variables that move something."""
_COSTLY = ("walk", "agents")
"""Questions that take milliseconds."""
_PLAIN = 2
"""The format of `marshal` that does not depend on who else holds a value."""
_WORTHLESS = (OSError, ValueError, TypeError, EOFError, KeyError, OutOfTime)
"""What shows that a look is none, or holds no more."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def recall(root: str, hours: int, now: float) -> bytes | None:
    """What a look at this moment would show; None where that is not known.

    Args:
        root: The project.
        hours: How far back it looks.
        now: Epoch seconds.
    """
    since = now - hours * 3600
    try:
        begun, until_ns, asked, entries, _ = _load(_file(root, hours))
        since_ns = int(since * 1e9)
        if since_ns < begun or (until_ns and since_ns > until_ns):
            return None
        if not all(_same(question, told, since_ns) for question, told in asked):
            return None
    except _WORTHLESS:
        return None
    shown = [text for active, stays, text in entries if stays or active >= since]
    return b"[" + b", ".join(shown) + b"]\n"


def remembered(root: str, hours: int) -> tuple[Sequence[str], Sequence[Memory]]:
    """The code that the last look was made of, and the sessions it has read; nothing where they may be shown otherwise now.

    Args:
        root: The project.
        hours: How far back it looked.
    """
    try:
        _, _, asked, _, sessions = _load(_file(root, hours))
        ours = [(question, told) for question, told in asked if question[0] in _OURS]
        if not all(_same(question, told, 0) for question, told in ours):
            return (), ()
    except _WORTHLESS:
        return (), ()
    return next((question[1] for question, _ in ours if question[0] == "targets"), ()), sessions


def keep(
    root: str,
    hours: int,
    *,
    begun: int,
    until_ns: int,
    asked: Sequence[tuple[Question, Answer]],
    entries: Sequence[Entry],
    sessions: Sequence[Memory] = (),
) -> None:
    """Keep a look, in the place of the last of its project and window. Where it cannot be kept it is not.

    Args:
        root: The project.
        hours: How far back it looked.
        begun: Where its window began, epoch nanoseconds: no look may begin earlier.
        until_ns: Nor later than this; 0 = any time.
        asked: Every question with its answer.
        entries: What it showed, redacted, in order.
        sessions: What each session told, redacted.
    """
    # What is seen to have changed by a single stat spares a look that has to be made anew all the walks.
    ordered = sorted(asked, key=lambda one: one[0][0] in _COSTLY)
    told = marshal.dumps((__version__, begun, until_ns, ordered, list(entries), list(sessions)), _PLAIN)
    if len(told) > _MOST:
        return
    path = _file(root, hours)
    try:
        _make_room(os.path.dirname(path), os.path.basename(path))  # noqa: PTH119, PTH120  # as above
        _write(path, _MAGIC + checksum(told) + told)
    except OSError:
        return


def _same(question: Question, told: Answer, since_ns: int) -> bool:
    known = within(told, since_ns) if question[0] == "walk" and question[-1] is None else told
    return bool(ask(question, since_ns) == known)


def _file(root: str, hours: int) -> str:
    return f"{state_dir()}/{FOLDER}/{digest((root, hours)).hex()}"


def _load(path: str) -> tuple[int, int, list[tuple[Question, Answer]], list[Entry], list[Memory]]:
    """A look's parts.

    Raises:
        OSError: There is none.
        ValueError: It is none of this version, or not this user's alone.
    """
    fd = os.open(path, _READ)
    try:
        found = os.fstat(fd)
        mine = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
        if not mine or found.st_size > _MOST + 64:
            raise ValueError("no look of this user's")
        data = os.read(fd, found.st_size)
    finally:
        os.close(fd)
    head, told = data[: len(_MAGIC) + SIZE], data[len(_MAGIC) + SIZE :]
    # What was not written by `keep` never gets to marshal, which trusts what it is given.
    if head != _MAGIC + checksum(told):
        raise ValueError("damaged")
    version, begun, until_ns, asked, entries, sessions = marshal.loads(told)  # noqa: S302  # as above
    if version != __version__:
        raise ValueError("another version's")
    return begun, until_ns, asked, entries, sessions


def _make_room(folder: str, name: str) -> None:
    """The folder, private, with room for one more of this name."""
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120  # as above
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102  # as above
    except FileExistsError:
        held = os.lstat(folder)
        if not stat.S_ISDIR(held.st_mode) or held.st_uid != os.geteuid() or held.st_mode & 0o077:
            raise PermissionError(folder) from None
    with os.scandir(folder) as found:
        others = sorted(
            (one.stat(follow_symlinks=False).st_mtime_ns, one.path) for one in found if one.name != name
        )
    for _, path in others[: max(0, len(others) - _FILES + 1)]:
        os.unlink(path)  # noqa: PTH108  # as above


def _write(path: str, data: bytes) -> None:
    """Whole or not at all. Nothing waits for the disk: a look that a power cut tore is known by its digest."""
    temporary = f"{path}.{os.getpid()}"
    fd = os.open(temporary, _NEW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        os.replace(temporary, path)  # noqa: PTH105  # as above
    except OSError:
        os.unlink(temporary)  # noqa: PTH108  # as above
        raise
