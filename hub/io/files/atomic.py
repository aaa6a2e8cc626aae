"""Whole files that are either the old one or the new one, whatever happens in between.

Owns: the one recipe by which hub replaces a file, the reading of a small file, the sweep of what a killed
process left behind, and the translation of disk errors into coded ones.
Must not: know what the bytes mean, or follow a symbolic link at the last step of a path.

The recipe: open the directory; create a temporary name beside the target with O_EXCL and 0600; write all;
fsync; rename over the target; fsync the directory. A kill at any point leaves the old file or the new one, and
at most one temporary name.

A throw-away folder of hub's has such a name too: it carries hub's mark, and its owner's pid and start time, so that
`sweep_temps` can tell the dead from the living, also when the pid was given to another process since. Only folders
that are hub's alone are swept: elsewhere a living owner's pid need not be seen, and a name proves nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.runner.files import write_all
from hub.io.runner.proc import OWN_END, own, starttime

_CODES = {
    errno.ENOSPC: (Code.NO_SPACE, "the disk is full"),
    errno.EDQUOT: (Code.NO_SPACE, "the disk is full"),
    errno.EROFS: (Code.READ_ONLY, "the file system is read-only"),
    errno.EACCES: (Code.NO_PERMISSION, "the system does not allow it"),
    errno.EPERM: (Code.NO_PERMISSION, "the system does not allow it"),
    errno.ELOOP: (Code.NO_PERMISSION, "the system does not allow it"),
    errno.ENOTDIR: (Code.NO_PERMISSION, "something stands where a folder of its path is to be"),
    errno.EMFILE: (Code.UNAVAILABLE, "too many files are open"),
    errno.ENFILE: (Code.UNAVAILABLE, "too many files are open"),
}
_TEMP = re.compile(r"\..+\.(?P<pid>\d+)-(?P<start>\d+)\.\w+" + re.escape(OWN_END))
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_serial = itertools.count()


@contextlib.contextmanager
def coded_errors(path: Path | str) -> Iterator[None]:
    """Turns the disk errors a user can mend into `HubError`; every other error passes unchanged.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION, or UNAVAILABLE where too many files are open, naming `path`.
    """
    try:
        yield
    except OSError as error:
        code, why = _CODES.get(error.errno or 0, (None, ""))
        if code is None:
            raise
        raise HubError(code, f"Cannot write {path}: {why}.") from error


def write_atomic(path: Path, data: bytes, *, failpoint: str = "") -> None:
    """Replaces `path` by a 0600 file with `data`, durably: when this returns, a power cut keeps the new file.

    Args:
        path: The target. Its directory must exist and must not be a symbolic link.
        data: All of the new content.
        failpoint: Prefix of the failpoints `.pre_write`, `.pre_rename`, `.post_rename`; none when empty.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION; the old file is as it was.
        OSError: Any other failure. The old file is as it was, unless it came from the fsync of the directory.
    """
    with coded_errors(path), _directory(path.parent) as dirfd:
        _hit(failpoint, "pre_write")
        with _temporary(dirfd, path.name, data) as temp:
            _hit(failpoint, "pre_rename")
            os.rename(temp, path.name, src_dir_fd=dirfd, dst_dir_fd=dirfd)
            _hit(failpoint, "post_rename")
            os.fsync(dirfd)


def swap_atomic(path: Path, old: bytes, new: bytes) -> bool:
    """Replaces a file that holds `old` by one with `new`, durably and with its mode; tells whether it still held it.

    For files that people edit too. The comparison is the last step before the rename, behind everything slow: what
    an editor has saved by then is seen, and stays.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION; the file is as it was.
    """
    with coded_errors(path), _directory(path.parent) as dirfd:
        if not _holds(path, old):
            return False
        mode = stat.S_IMODE(path.lstat().st_mode)
        with _temporary(dirfd, path.name, new, mode) as temp:
            same = _holds(path, old)
            if same:
                os.rename(temp, path.name, src_dir_fd=dirfd, dst_dir_fd=dirfd)
                os.fsync(dirfd)
            else:
                os.unlink(temp, dir_fd=dirfd)
    return same


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_bounded(path, len(data)) == data
    except FileNotFoundError:
        return False
    except HubError as error:
        if error.code is Code.TOO_LARGE:
            return False
        raise


def create_atomic(path: Path, data: bytes) -> bool:
    """Makes `path` with `data`, whole and durable, unless it exists; tells whether it was this call that made it.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION.
    """
    with coded_errors(path), _directory(path.parent) as dirfd, _temporary(dirfd, path.name, data) as temp:
        try:
            os.link(temp, path.name, src_dir_fd=dirfd, dst_dir_fd=dirfd, follow_symlinks=False)
        except FileExistsError:
            return False
        finally:
            os.unlink(temp, dir_fd=dirfd)
        os.fsync(dirfd)
        return True


def read_bounded(path: Path, limit: int) -> bytes:
    """All of a regular file of at most `limit` bytes; never follows a link, never blocks on a FIFO.

    Raises:
        FileNotFoundError: There is no such file, nor can there be: what stands in place of its folder is none.
        HubError: NO_PERMISSION when it is a link or no regular file or unreadable, TOO_LARGE over the limit.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise _irregular(path) from error
        if error.errno in {errno.EACCES, errno.EPERM}:
            raise HubError(Code.NO_PERMISSION, f"{path} may not be read.") from error
        if error.errno == errno.ENOTDIR:
            raise FileNotFoundError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _irregular(path)
        parts: list[bytes] = []
        room = limit + 1
        while room and (part := os.read(fd, room)):
            parts.append(part)
            room -= len(part)
    finally:
        os.close(fd)
    if not room:
        raise HubError(Code.TOO_LARGE, f"{path} is larger than {limit} bytes.")
    return b"".join(parts)


def stamp_of(path: Path) -> object:
    """What changes whenever the file does; None where it is not to be seen."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def is_still(path: Path, opened: os.stat_result) -> bool:
    """Whether a path is the file that was opened there, and not one that has taken its place since."""
    try:
        return os.path.samestat(path.lstat(), opened)
    except OSError:
        return False


def sweep_temps(directory: Path) -> None:
    """Removes what has a temporary name in a folder, and no living owner; what this user may not remove stays."""
    with contextlib.suppress(OSError, HubError), _directory(directory) as dirfd:
        for name in os.listdir(dirfd):
            match = _TEMP.fullmatch(name)
            if match is None or str(starttime(int(match["pid"]))) == match["start"]:
                continue
            try:
                os.unlink(name, dir_fd=dirfd)
            except IsADirectoryError:
                import shutil  # only where a process was killed

                with contextlib.suppress(RecursionError):
                    shutil.rmtree(name, ignore_errors=True, dir_fd=dirfd)
            except OSError:
                continue


def sync_file(fd: int) -> None:
    """Brings a file's bytes to the platter: on macOS a plain fsync leaves them in the drive's cache."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fsync(fd)


def remove(path: Path) -> None:
    """Takes a file away; durable when this returns.

    Raises:
        OSError: It could not be.
    """
    with _directory(path.parent) as dirfd:
        os.unlink(path.name, dir_fd=dirfd)
        os.fsync(dirfd)


@contextlib.contextmanager
def _directory(path: Path) -> Iterator[int]:
    try:
        fd = os.open(path, _DIRECTORY)
    except NotADirectoryError as error:
        raise HubError(
            Code.NO_PERMISSION,
            f"{path} is not a folder of its own.",
            hint="Move it away: a link or a file cannot stand in for that folder.",
        ) from error
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _temporary(dirfd: int, name: str, data: bytes, mode: int = 0o600) -> Iterator[str]:
    """A synced file with `data` under a temporary name; unlinked when the body fails."""
    temp = f"{own(name)}{next(_serial)}{OWN_END}"
    fd = os.open(temp, _CREATE, 0o600, dir_fd=dirfd)
    try:
        try:
            os.fchmod(fd, mode)
            write_all(fd, data)
            sync_file(fd)
        finally:
            os.close(fd)
        yield temp
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=dirfd)
        raise


def _hit(prefix: str, place: str) -> None:
    if prefix:
        failpoints.hit(f"{prefix}.{place}")


def _irregular(path: Path) -> HubError:
    hint = "Move it away: a folder, a link or a device cannot stand in for that file."
    return HubError(Code.NO_PERMISSION, f"{path} is not a regular file.", hint=hint)
