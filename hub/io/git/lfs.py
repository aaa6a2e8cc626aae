"""Files that Git LFS keeps: a pointer in git, and the bytes in a store beside it.

Owns: making the pointer of a file as `git lfs clean` would, with its bytes in the store; and putting the bytes of a
pointer in its place again.
Must not: run git-lfs, ask the network, or touch a file that is no pointer.
Tests: tests/hub/io/git/test_lfs.py

hub runs no filter of a repository's, so it does itself what this one does: else the bytes would be in git's own history.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import attrs

from hub.io.files.atomic import coded_errors
from hub.io.git.env import git_asked
from hub.io.git.layout import common_dir
from hub.io.git.shadow import throwaway

_VERSION = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER = re.compile(re.escape(_VERSION) + rb"(?:[^\n]+\n)*?oid sha256:([0-9a-f]{64})\nsize [0-9]+\n")
_MOST = 1024
"""Bytes; a pointer is shorter."""
_OWN = ("system", "global")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@attrs.frozen
class LfsStore:
    """Where the bytes are."""

    trusted: Path
    """A folder that the user has named, or the repository's own."""
    below: tuple[str, ...]
    """The folders in it that lead there; an agent can write them, so none may be a link."""

    @contextlib.contextmanager
    def folder(self, oid: str, *, make: bool = False) -> Iterator[int]:
        """The folder of a file, open.

        Args:
            oid: The file's.
            make: Whether it is made where it is not there.

        Raises:
            OSError: It is not there, or something else is in its place.
        """
        if make:
            self.trusted.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.trusted, os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in (*self.below, oid[:2], oid[2:4]):
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=fd)
                above, fd = fd, os.open(name, _FOLDER, dir_fd=fd)
                os.close(above)
            yield fd
        finally:
            os.close(fd)


async def store_of(root: Path) -> LfsStore:
    """The repository's store, or the one that its user has for all his repositories.

    What the repository's own configuration says does not count: agents can write that.
    """
    args = ("--show-scope", "-z", "--type=path", "--get-all", "lfs.storage")
    fields = (await git_asked("config", *args, cwd=root)).out.decode("utf-8", "surrogateescape").split("\0")
    told = [path for scope, path in zip(fields[::2], fields[1::2], strict=False) if scope in _OWN and path]
    common = common_dir(root)
    return LfsStore(common / told[-1], ("objects",)) if told else LfsStore(common, ("lfs", "objects"))


async def fills(root: Path) -> bool:
    """Whether the user's git has the bytes in the checkout, not the pointers."""
    return bool((await git_asked("config", "--get", "filter.lfs.clean", cwd=root)).text)


def to_pointer(file: Path, store: LfsStore | None) -> None:
    """Puts the pointer of a file in its place, and its bytes into the store where there is one. Blocking.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION.
    """
    with coded_errors(file):
        found = file.stat()
        if not found.st_size or _read(file):
            return
        with file.open("rb") as bytes_:
            oid = hashlib.file_digest(bytes_, "sha256").hexdigest()
        if store is not None:
            _keep(file, store, oid)
        file.unlink(missing_ok=True)
        file.write_bytes(_VERSION + f"oid sha256:{oid}\nsize {found.st_size}\n".encode())
        file.chmod(stat.S_IMODE(found.st_mode))


def fill(root: Path, paths: Iterable[bytes], store: LfsStore) -> list[bytes]:
    """Puts their bytes in the place of pointers, where the store has them, and tells of which. Blocking.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION.
    """
    filled: list[bytes] = []
    for path in paths:
        file = root / os.fsdecode(path)
        if not (oid := _read(file)) or (source := _opened(store, oid)) is None:
            continue
        with source, coded_errors(file), throwaway(file.parent, "hub") as beside:
            temp = beside / "file"
            with temp.open("w+b") as target:
                shutil.copyfileobj(source, target)
                target.seek(0)
                # An agent can write the store, and the pointer too: what is no such file is nothing of the user's.
                same = hashlib.file_digest(target, "sha256").hexdigest() == oid
            if same:
                temp.chmod(stat.S_IMODE(file.stat().st_mode))
                temp.replace(file)
                filled.append(path)
    return filled


def _opened(store: LfsStore, oid: str) -> BinaryIO | None:
    """A regular file of the store; None where it has none."""
    with contextlib.suppress(OSError), store.folder(oid) as folder:
        file = os.fdopen(os.open(oid, _FILE, dir_fd=folder), "rb")
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        file.close()
    return None


def _read(file: Path) -> str:
    """The id that a pointer has; "" of what is none."""
    with contextlib.suppress(OSError):
        found = file.lstat()
        if (
            stat.S_ISREG(found.st_mode)
            and found.st_size < _MOST
            and (said := _POINTER.match(file.read_bytes()))
        ):
            return said[1].decode("ascii")
    return ""


def _keep(file: Path, store: LfsStore, oid: str) -> None:
    """Copies a file into the store; what is there under its name need not be it, and gives way."""
    temp = f".hub-{secrets.token_hex(8)}"
    with store.folder(oid, make=True) as folder, file.open("rb") as source:
        try:
            with os.fdopen(os.open(temp, _NEW, 0o600, dir_fd=folder), "wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(target.fileno())
            os.rename(temp, oid, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=folder)
            raise
