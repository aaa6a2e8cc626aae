"""One daemon a project.

Owns: the kernel lock on `.hub/lock` that a daemon holds for life, and what it says about its holder.
Must not: remove the lock file (the kernel frees the lock when its holder dies, however it dies), or trust its
text for anything but a message.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors

_TEXT_LIMIT = 64


class ProjectLock:
    """The lock, held from `acquire` until `release` or until the process ends.

    The descriptor is closed on exec, so no agent ever holds the lock by inheritance.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def acquire(cls, path: Path, *, port: int = 0) -> ProjectLock:
        """Takes the lock at once or not at all.

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
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                    raise
                raise _held(fd) from error
            lock = cls(fd)
            with coded_errors(path):
                os.fchmod(fd, 0o600)
                lock.tell(port)
        except BaseException:
            os.close(fd)
            raise
        return lock

    def tell(self, port: int) -> None:
        """Writes who holds the lock, for the message a second daemon shows."""
        text = f"{os.getpid()} {port}\n".encode()
        os.pwrite(self._fd, text, 0)
        os.ftruncate(self._fd, len(text))

    def release(self) -> None:
        """Gives the lock up. The file stays. A second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


@contextlib.contextmanager
def project_lock(path: Path, *, port: int = 0) -> Iterator[ProjectLock]:
    """`ProjectLock.acquire` for a block."""
    lock = ProjectLock.acquire(path, port=port)
    try:
        yield lock
    finally:
        lock.release()


@contextlib.contextmanager
def nobody_writes(path: Path) -> Iterator[None]:
    """For reading while no daemon runs, and none begins to write: makes nothing, and says nothing in the lock's file.

    Raises:
        HubError: PROJECT_LOCKED as `ProjectLock.acquire`.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        yield  # there never was a daemon, or the file is none that one could hold
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise _held(fd) from error
    finally:
        os.close(fd)


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
