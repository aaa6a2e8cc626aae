"""Who the user is to git.

Owns: the name and the address that git would put on a commit of the user's.
Must not: make one up, or let a configuration run a program.
Tests: tests/hub/io/git/test_taking.py
"""

from __future__ import annotations

import os
from pathlib import Path

import attrs

from hub.io.files.atomic import stamp_of
from hub.io.git.env import EMAIL, NAME, git_asked
from hub.io.git.layout import common_dir

_WANTED = r"^(user|author|committer)\.(name|email)$"
_WHERE = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL")
_STRIPPED = str.maketrans("", "", "<>\0\r\n")


@attrs.frozen
class CommitIdentity:
    """A name and an address, as they stand in a commit."""

    name: str
    email: str

    @property
    def where(self) -> dict[str, str]:
        """The environment in which git commits under this name."""
        return {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", self.name), ("EMAIL", self.email))
        }

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


HUB = CommitIdentity(NAME, EMAIL)
"""Whose the commits are where git knows nobody else."""


_known: dict[Path, tuple[object, CommitIdentity]] = {}


async def identity(root: Path) -> CommitIdentity:
    """The user's own, from the environment or git's configuration; hub's where git has no address of theirs.

    Asked again where one of the files has changed in which it usually stands.
    """
    stamp = _stamp(root)
    if root not in _known or _known[root][0] != stamp:
        _known[root] = stamp, await _asked(root)
    return _known[root][1]


def _stamp(root: Path) -> object:
    """By which the places are known again in which git finds an identity."""
    env = tuple(os.environ.get(name) for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", *_WHERE))
    home = Path(os.environ.get("HOME", "/"))
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git/config"
    files = (common_dir(root) / "config", home / ".gitconfig", config)
    return env, tuple(map(stamp_of, files))


async def _asked(root: Path) -> CommitIdentity:
    done = await git_asked("config", "-z", "--includes", "--get-regexp", _WANTED, cwd=root)
    found: dict[str, str] = {}
    for entry in done.out.decode("utf-8", "replace").split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found[key] = value
    name = os.environ.get("GIT_AUTHOR_NAME") or found.get("author.name") or found.get("user.name", "")
    email = os.environ.get("GIT_AUTHOR_EMAIL") or found.get("author.email") or found.get("user.email", "")
    name, email = (value.translate(_STRIPPED).strip() for value in (name, email))
    return CommitIdentity(name or email, email) if email else HUB
