"""Who the user is to git.

Owns: the name and the address that git would put on a commit of the user's.
Must not: make one up, or let a configuration run a program.
Tests: tests/hub/io/git/test_taking.py
"""

from __future__ import annotations

import os
from pathlib import Path

import attrs

from hub.io.git.env import git_asked
from hub.io.git.guard import EMAIL, NAME

_WANTED = r"^(user|author|committer)\.(name|email)$"
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


async def identity(root: Path) -> CommitIdentity:
    """The user's own, from the environment or git's configuration; hub's where git has no address of theirs."""
    done = await git_asked("config", "-z", "--includes", "--get-regexp", _WANTED, cwd=root)
    found: dict[str, str] = {}
    for entry in done.out.decode("utf-8", "replace").split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found[key] = value
    name = os.environ.get("GIT_AUTHOR_NAME") or found.get("author.name") or found.get("user.name", "")
    email = os.environ.get("GIT_AUTHOR_EMAIL") or found.get("author.email") or found.get("user.email", "")
    name, email = (value.translate(_STRIPPED).strip() for value in (name, email))
    return CommitIdentity(name or email, email) if email else HUB
