"""One daemon a project.

Owns: the kernel lock on `.hub/lock` that a daemon holds for life, what it says about its holder, and whether the project
still has it.
Must not: remove the lock file (the kernel frees the lock when its holder dies, however it dies), or trust its
text for anything but a message.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors

_TEXT_LIMIT = 64
_READS = 5.0
"""Seconds for which who only reads is waited for."""
_READ = 0.01


@attrs.frozen
class ProjectLock:
    """The lock, while it is held."""

    _path: Path
    _fd: int

    def kept(self) -> bool:
        """Whether the project still has the file that is locked; without it another daemon may hold the project too."""
        try:
            return os.path.samestat(os.fstat(self._fd), self._path.lstat())
        except OSError as error:  # a file system that does not answer is told by whoever writes
            return error.errno not in {errno.ENOENT, errno.ENOTDIR}

    def lost(self) -> HubError:
        """What is to be said where it has it no more."""
        return HubError(
            Code.NOT_FOUND,
            f"{self._path.parent} was moved or removed under this daemon, which has ended.",
            hint="Start hub where the project is now: hub daemon",
        )

    def tell(self, port: int) -> None:
        """Writes who holds the lock, for the message a second daemon shows."""
        text = f"{os.getpid()} {port}\n".encode()
        os.pwrite(self._fd, text, 0)
        os.ftruncate(self._fd, len(text))


@contextlib.contextmanager
def project_lock(path: Path, *, port: int = 0) -> Iterator[ProjectLock]:
    """Holds the lock for a block, or until the process ends.

    Another holder is not waited for; who only reads (`nobody_writes`) is, for that takes a moment. The descriptor is
    closed on exec, so no agent ever holds the lock by inheritance. The file stays.

    Args:
        path: `.hub/lock`; made 0600 when it is not there.
        port: The port the daemon serves, told to whoever comes second; 0 = not known yet.

    Raises:
        HubError: PROJECT_LOCKED with `pid` and `port` of the holder (0 when unknown); NO_PERMISSION when
            the path is a link or no regular file.
    """
    with coded_errors(path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        _refuse_special(fd, path)
        late = time.monotonic() + _READS
        while not _got(fd, fcntl.LOCK_EX):
            if not _got(fd, fcntl.LOCK_SH) or time.monotonic() > late:
                raise _held(fd)
            fcntl.flock(fd, fcntl.LOCK_UN)
            time.sleep(_READ)
        lock = ProjectLock(path, fd)
        with coded_errors(path):
            os.fchmod(fd, 0o600)
            lock.tell(port)
        yield lock
    finally:
        os.close(fd)


@contextlib.contextmanager
def nobody_writes(path: Path) -> Iterator[None]:
    """For reading while no daemon runs, and none begins to write: makes nothing, and says nothing in the lock's file.

    Raises:
        HubError: PROJECT_LOCKED as `project_lock`.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        yield  # there never was a daemon, or the file is none that one could hold
        return
    try:
        if not _got(fd, fcntl.LOCK_SH):
            raise _held(fd)
        yield
    finally:
        os.close(fd)


def _got(fd: int, kind: int) -> bool:
    """Whether the lock is this file's now: alone (LOCK_EX), or beside others who only read (LOCK_SH)."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
            raise
        return False
    return True


def _refuse_special(fd: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise HubError(Code.NO_PERMISSION, f"{path} is not a regular file.")


def _held(fd: int) -> HubError:
    words = os.pread(fd, _TEXT_LIMIT, 0).split()
    pid, port = (int(word) if word.isdigit() else 0 for word in (*words, b"", b"")[:2])
    who = f"process {pid}" if pid else "another process"
    where = f" on port {port}" if port else ""
    return HubError(
        Code.PROJECT_LOCKED,
        f"This project is held by {who}{where}.",
        hint=f"Use that one, or stop it first: kill {pid}" if pid else "",
        pid=pid,
        port=port,
    )
