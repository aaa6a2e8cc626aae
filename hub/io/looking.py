"""What the file system says of the files that a request for permission names.

Owns: following links, and counting the files below a folder that is to be searched.
Must not: judge, open a file, or follow a link to a folder while it walks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from hub.domain.rules import Named, Seen

MOST = 200_000
"""Files below one folder; of more nobody can say quickly what they are."""


def look(named: Named) -> Seen:
    """Every named path through its links, and every file below each searched folder. Never raises."""
    real = {path: found for path in named.paths if (found := _real(path)) != path}
    below = {folder: _below(folder) for folder in named.searched}
    return Seen(real, below, folds=sys.platform == "darwin")


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _below(folder: str) -> Sequence[str] | None:
    if os.path.isfile(folder):
        return [_real(folder)]
    found: list[str] = []
    for place, folders, names in os.walk(_real(folder)):
        paths = [f"{place.rstrip('/')}/{name}" for name in (*names, *folders)]
        found += paths
        found += [_real(path) for path in paths if os.path.islink(path)]
        if len(found) > MOST:
            return None
    return found
