"""What a look at the machine asks, in a form in which it can be asked again.

Owns: the kinds of questions, and their answers: plain values, which tell of contents only by a digest.
Must not: judge an answer, or import more than `os` and a hash: asking again is all that a later look does.

A question is a tuple, its kind first:
 - `("file", path)`: the stamp of what has this name; None where there is nothing.
 - `("target", path)`: the same of what a link leads to. `("targets", paths)`: a digest of many of them.
 - `("log", path)`: the same without the time of its last change of owner or mode: SQLite may set both of a log it reads.
 - `("there", path)`: whether there is anything.
 - `("real", path)`: where its links lead.
 - `("walk", root, pattern, since)`: the files that fit with times and sizes; since None = in the window of the look.
 - `("inside", folder, tree)`: whether a folder belongs to the repository of a tree.
 - `("whose", path)`: owner and kind.
 - `("environment", names)`: a digest of this process's variables of these names, and of all that are hub's or XDG's.
 - `("agents", looks, registered)`: a digest of each process that looks like an agent's or is in a registry, by its pid.
 - `("parent", pid)`: a process's parent.

Tests: tests/hub/io/test_looks.py, tests/hub/io/test_kept_sessions.py
"""

from __future__ import annotations

import os
import sys

try:
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b  # which loads OpenSSL

from hub.domain.detection.naming import named
from hub.io import process_raw
from hub.io.runner import proc
from hub.io.trees import same_repository
from hub.io.walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from hub.domain.detection.naming import Looks

    Question = tuple[Any, ...]
    Answer = Any

_SECONDS = 2.0
SIZE = 16
"""Bytes of a digest."""
_SHARED = ("HUB_", "XDG_")


def ask(question: Question, since_ns: int) -> Answer:
    """The answer of this moment.

    Args:
        question: As above.
        since_ns: Where the window of this look begins, epoch nanoseconds.

    Raises:
        OSError: It cannot be told.
        OutOfTime: As well.
        KeyError: There is no such kind.
    """
    kind, *rest = question
    if kind == "walk":
        root, pattern, since = rest
        return walked(walk(root, pattern, since_ns if since is None else since, _SECONDS))
    answer: Answer = _KINDS[kind](*rest)
    return answer


def walked(found: Iterable[tuple[str, os.stat_result]]) -> list[tuple[str, int, int]]:
    """The answer to a walk: path, time and size of each file."""
    return sorted((path, known.st_mtime_ns, known.st_size) for path, known in found)


def within(told: Sequence[tuple[str, int, int]], since_ns: int) -> list[tuple[str, int, int]]:
    """What a walk in a narrower window would have answered."""
    return [one for one in told if one[1] >= since_ns]


def digest(value: object) -> bytes:
    """Equal for equal plain values, and telling nothing of them."""
    return checksum(repr(value).encode("utf-8", "surrogatepass"))


def checksum(data: bytes) -> bytes:
    """`SIZE` bytes that differ when the data does."""
    return blake2b(data, digest_size=SIZE).digest()


def stamp_of(path: str, *, follow: bool = False) -> tuple[int, ...] | None:
    """What differs when another file has the name, or somebody wrote to this one; None where there is none."""
    try:
        found = os.stat(path, follow_symlinks=follow)  # noqa: PTH116  # pathlib is as long in coming as a look
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def written(stamp: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """What of a stamp differs only where somebody wrote."""
    return stamp and stamp[:-1]


def process_digest(raw: process_raw.Raw) -> bytes:
    """All that was read of a process."""
    *told, env, open_files = raw
    return digest((*told, sorted(env.items()), open_files))


def environment(names: Iterable[str], environ: Mapping[str, str] = os.environ) -> bytes:
    """The digest of these variables and all that move hub's own folders, and of who asks with which Python."""
    wanted = {*names, *(name for name in environ if name.startswith(_SHARED))}
    told = [(name, environ.get(name)) for name in sorted(wanted)]
    return digest((told, sys.version, sys.executable, os.geteuid()))


def _targets(paths: Sequence[str]) -> bytes:
    return digest([stamp_of(path, follow=True) for path in paths])


def _whose(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # as above
    except OSError:
        return None
    return found.st_uid, found.st_mode & 0o170000


def _agents(looks: Sequence[Looks], registered: Sequence[tuple[int, int]]) -> list[tuple[int, bytes]]:
    """Of every process of this user that has one of the looks, or is one of those registered: pid and start time."""

    def wanted(executable: str, script: str) -> bool:
        return any(named(executable, script, one) for one in looks)

    known = {pid for pid, started in registered if proc.starttime(pid) == started}
    found = []
    for pid in sorted(map(int, process_raw.pids())):
        try:
            raw = process_raw.read(pid, _anything if pid in known else wanted)
        except (OSError, ValueError):
            continue
        if raw is not None:
            found.append((pid, process_digest(raw)))
    return found


def _anything(_executable: str, _script: str) -> bool:
    return True


_KINDS: Mapping[str, Callable[..., Answer]] = {
    "file": stamp_of,
    "log": lambda path: written(stamp_of(path)),
    "target": lambda path: stamp_of(path, follow=True),
    "targets": _targets,
    "there": os.path.lexists,
    "real": os.path.realpath,
    "inside": same_repository,
    "whose": _whose,
    "environment": environment,
    "agents": _agents,
    "parent": lambda pid: proc.parent(pid) or 0,
}
