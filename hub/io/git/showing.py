"""Of which files a command of git shows what they held, before it is run.

Owns: asking git for the names alone, of the same commits and paths.
Must not: judge, show a file, or run a word that is no commit and no path.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import trio

from hub.domain.permission.reach import Shown
from hub.errors import HubError
from hub.io.git.env import effective_config, git
from hub.io.git.guard import filter_overrides
from hub.io.git.refs import commit_of

_PATIENCE = 5.0
"""Seconds; of a history that takes longer nobody says quickly whose it is."""
_RANGE = re.compile(r"\.{2,3}")
_NAMES = ("--name-only", "--no-renames", "--no-relative", "-z")
_EVERY = (("log.diffMerges", "separate"), ("log.follow", "false"))
_WHOLE = "--ignore-submodules=dirty"
"""Of a submodule its commit alone: git would look into it with the filters that its own settings name."""


async def files_shown(folder: str, shown: Shown) -> list[str] | None:
    """The files, absolute; None = nobody can say. Never raises."""
    if not shown.verb:
        return None
    found: list[str] | None = None
    try:
        with trio.move_on_after(_PATIENCE):
            found = await _asked(Path(folder), shown)
    except (HubError, OSError):
        return None
    return found


async def _asked(folder: Path, shown: Shown) -> list[str] | None:
    commits: list[str] = []
    paths = list(shown.paths)
    for name in shown.names:
        if await _is_commits(folder, name):
            # A name may be a file's too, and of an object that is no commit git would show what it holds.
            commits.append(f"{name}^{{commit}}" if shown.verb == "show" else name)
        elif _is_there(folder / name):
            paths.append(name)
        else:
            return None
    root = (await git("rev-parse", "--show-toplevel", cwd=folder)).text
    rest = (*_NAMES, *shown.options, _WHOLE, *commits, "--", *paths)
    settings = await effective_config(folder)
    if settings.get("diff.submodule") == "diff":
        return None  # it shows the files of another repository
    config = (*_EVERY, *filter_overrides(settings))
    match shown.verb:
        case "log":
            told = await git("log", "--format=", "-m", *rest, cwd=folder, config=config)
        case "show":
            told = await git("show", "--format=", "-m", *rest, cwd=folder, config=config)
        case _:
            told = await git("diff", *rest, cwd=folder, config=config)
    names = told.out.decode("utf-8", "surrogateescape").split("\0")
    return [f"{root}/{name}" for part in names if (name := part.strip("\n"))]


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


async def _is_commits(folder: Path, name: str) -> bool:
    """Whether a word is a commit, or a range of them."""
    for end in [end for end in _RANGE.split(name) if end] or [name]:
        if not await commit_of(folder, end.lstrip("^")):
            return False
    return True
