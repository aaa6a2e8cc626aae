"""Whether what the index says of a file still holds.

Owns: that one look at the disk.
Must not: read a file, or bring the index up to date.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def with_staleness(root: Path, chunks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The chunks with `Stale` in place of the size and time their file had when it was read."""
    return [_told(f"{root}/", chunk) for chunk in chunks]


def _told(root: str, chunk: dict[str, Any]) -> dict[str, Any]:
    told = {**chunk}
    size, mtime_ns = told.pop("Size"), told.pop("MtimeNs")
    try:
        found = os.lstat(root + told["Path"])
    except OSError:
        return {**told, "Stale": True}
    # A file that was read while it was still young has no time to compare.
    return {**told, "Stale": found.st_size != size or mtime_ns not in {0, found.st_mtime_ns}}
