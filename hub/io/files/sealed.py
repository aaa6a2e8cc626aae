"""Files below `.hub` that hub believes: written and read with this machine's seal.

Owns: the key of the seals, what a file is called under its seal, and the words for one that is not hub's.
Must not: know what the bytes mean, or repair anything.

A file is sealed under its real path: the name of the record and the place of the project in one. So what was committed,
unpacked, copied from another project or moved with it is not believed, however well it is formed. The key lies outside of
every project (`hub.io.project.places`); see `design/decisions/0041-what-hub-believes-is-sealed.md`.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path

from hub import userdirs
from hub.errors import Code, HubError
from hub.io.files import seal
from hub.io.files.atomic import coded_errors, read_bounded, write_atomic
from hub.io.project.places import load_key, load_or_create_key

_PURPOSE = "seal"


class NotSealed(HubError):
    """The bytes are not what hub wrote at this place."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            Code.NOT_SEALED,
            f"{path} was not written by hub for this project, at this place and on this machine:"
            " nothing in it was believed.",
            path=str(path),
        )


def write_sealed(path: Path, body: bytes, *, failpoint: str = "") -> None:
    """Replaces a file by one with `body` and its seal, durably; see `write_atomic`.

    Raises:
        HubError, OSError: As `write_atomic`, and as `load_or_create_key`.
    """
    write_atomic(path, seal.closed(seal_key(), name_of(path), body), failpoint=failpoint)


def read_sealed(path: Path, limit: int) -> bytes:
    """The body of a sealed file, without its seal.

    Raises:
        FileNotFoundError: There is no such file.
        NotSealed: It is not what hub wrote there. Its bytes are as they were.
        HubError: As `read_bounded`.
    """
    return opened(path, read_bounded(path, limit))


def opened(path: Path, data: bytes) -> bytes:
    """The body of bytes that were read from `path`.

    Raises:
        NotSealed: As `read_sealed`.
    """
    key = _known_key()
    body = seal.opened(key, name_of(path), data) if key else None
    if body is None:
        raise NotSealed(path)
    return body


def mark(path: Path) -> str:
    """What a database carries that hub made at this place."""
    return seal.mark(seal_key(), name_of(path))


def bears(path: Path, found: str) -> bool:
    """Whether a database's mark is the one hub gives at this place."""
    key = _known_key()
    return key is not None and found.isascii() and seal.same(found, seal.mark(key, name_of(path)))


def run_key(run_dir: Path) -> bytes:
    """The key with which the runner of this run seals what it leaves; of no use for anything else."""
    return seal.derived(seal_key(), name_of(run_dir))


def put_aside(path: Path, what: str = "unsealed") -> Path:
    """Renames a file that is not believed; its bytes are kept beside the one that takes its place."""
    aside = path.with_name(f"{path.name}.{what}-{time.time_ns() // 1_000_000}")
    with coded_errors(path):
        path.rename(aside)
    return aside


def name_of(path: Path) -> bytes:
    """What a file is called under its seal: its folder's real path, and its name."""
    return os.fsencode(os.path.realpath(path.parent)) + b"/" + os.fsencode(path.name)


def seal_key() -> bytes:
    """The key of this machine's seals, made on first use.

    Raises:
        HubError: As `load_or_create_key`.
    """
    return _made(userdirs.state_dir())


@lru_cache(maxsize=8)
def _made(_state: str) -> bytes:
    return load_or_create_key(_PURPOSE)


def _known_key() -> bytes | None:
    """For reading: nothing is made."""
    return load_key(_PURPOSE)
