"""What the file system says of the files that a request for permission names.

Owns: following links, and counting the files below a folder that is to be searched.
Must not: judge, open a file, or follow a link to a folder while it walks.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hub.domain.permission.rules import Named, SeenPath
from hub.domain.permission.wildcards import WITHIN, globbed

_FILES = 256
_LONG = 4 * 1024 * 1024
MOST = 200_000
"""Files below one folder; of more nobody can say quickly what they are."""


def look(named: Named) -> SeenPath:
    """Every named path through its links, and every file below each searched folder. Never raises."""
    real = {path: found for path in named.paths if (found := _real(path)) != path}
    below = {folder: _below(folder) for folder in named.searched}
    files = frozenset(path for path in named.paths if _is_file(path))
    return SeenPath(real, below, files=files, folds=sys.platform == "darwin")


def texts(pattern: str) -> list[str]:
    """The files that fit a pattern, as far as they can be read; of a very long one the beginning."""
    found = []
    for name in sorted(glob.glob(pattern))[:_FILES]:
        with contextlib.suppress(OSError), Path(name).open("rb") as file:
            found.append(file.read(_LONG).decode("utf-8", "replace"))
    return found


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _below(pattern: str) -> Sequence[str] | None:
    """The files below a folder, or below all that a shell finds for it: `rm -r d*`."""
    found: list[str] = []
    for folder in [pattern, *_matching(pattern)]:
        if (files := _below_one(folder)) is None or len(found) + len(files) > MOST:
            return None
        found += files
    return found


def _matching(pattern: str) -> list[str]:
    plain = globbed(pattern).replace(WITHIN, "*")
    if plain == pattern and glob.escape(plain) == plain:
        return []
    return list(itertools.islice(glob.iglob(plain, include_hidden=True), MOST))


def _below_one(folder: str) -> Sequence[str] | None:
    if Path(folder).is_file():
        return [_real(folder)]
    found: list[str] = []
    for place, folders, names in os.walk(_real(folder)):
        paths = [f"{place.rstrip('/')}/{name}" for name in (*names, *folders)]
        found += paths
        found += [_real(path) for path in paths if os.path.islink(path)]
        if len(found) > MOST:
            return None
    return found
