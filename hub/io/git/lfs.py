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
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from hub.io.files.atomic import coded_errors
from hub.io.git.env import git_asked
from hub.io.git.layout import common_dir
from hub.io.git.shadow import throwaway

_VERSION = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER = re.compile(re.escape(_VERSION) + rb"(?:[^\n]+\n)*?oid sha256:([0-9a-f]{64})\nsize [0-9]+\n")
_MOST = 1024
"""Bytes; a pointer is shorter."""


async def store_of(root: Path) -> Path:
    """Where the bytes are."""
    told = (await git_asked("config", "--type=path", "--get", "lfs.storage", cwd=root)).text
    return common_dir(root) / (told or "lfs") / "objects"


async def fills(root: Path) -> bool:
    """Whether the user's git has the bytes in the checkout, not the pointers."""
    return bool((await git_asked("config", "--get", "filter.lfs.clean", cwd=root)).text)


def to_pointer(file: Path, store: Path | None) -> None:
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
            _keep(file, _place(store, oid))
        file.unlink(missing_ok=True)
        file.write_bytes(_VERSION + f"oid sha256:{oid}\nsize {found.st_size}\n".encode())
        file.chmod(stat.S_IMODE(found.st_mode))


def fill(root: Path, paths: Iterable[bytes], store: Path) -> list[bytes]:
    """Puts their bytes in the place of pointers, where the store has them, and tells of which. Blocking.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION.
    """
    filled: list[bytes] = []
    for path in paths:
        file = root / os.fsdecode(path)
        if not (oid := _read(file)) or not _place(store, oid).is_file():
            continue
        with coded_errors(file), _beside(file) as temp:
            shutil.copyfile(_place(store, oid), temp)
            temp.chmod(stat.S_IMODE(file.stat().st_mode))
            temp.replace(file)
        filled.append(path)
    return filled


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


def _place(store: Path, oid: str) -> Path:
    return store / oid[:2] / oid[2:4] / oid


def _keep(file: Path, place: Path) -> None:
    if place.is_file():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with _beside(place) as temp:
        shutil.move(file, temp)  # from another file system it is copied
        with temp.open("rb") as moved:
            os.fsync(moved.fileno())
        temp.replace(place)


@contextlib.contextmanager
def _beside(place: Path) -> Iterator[Path]:
    with throwaway(place.parent, ".hub-") as directory:
        yield directory / "file"
