"""Programs that a repository's configuration names, and its hooks.

Owns: which settings name one, and what of them is new since a session began.
Must not: run one, or keep git busy while nobody has touched the configuration.

hub takes all of them away wherever it runs git. They are named because the user's own git obeys them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from hub.domain.text.patterns import late
from hub.errors import HubError
from hub.io.files.atomic import read_bounded
from hub.io.git.env import git

NOTE = "programs"
"""The file in a shadow that remembers them as they were at the start."""
_LONGEST = 1 << 20
_PROGRAM = late(
    r"core\.(?:fsmonitor|hookspath|pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)"
    r"|include\.path|includeif\..*\.path|alias\..*|pager\..*|sequence\.editor|interactive\.difffilter"
    r"|gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand|credential\.(?:.*\.)?helper"
    r"|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)"
    r"|(?:merge|diff)tool\..*\.cmd|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|uploadpack\.packobjectshook"
    r"|protocol\.ext\.allow|submodule\..*\.update|hook\..*\.(?:command|event|enabled)|trailer\..*\.(?:command|cmd)|tar\..*\.command",
    re.DOTALL,
)


async def note_programs(git_dir: Path, root: Path, common: Path) -> None:
    """Remember what the configuration of `root` names, and the hooks, in `git_dir`."""
    stamp = _stamp(common)  # before the look: what changes meanwhile is looked at again
    text = json.dumps({"stamp": stamp, "programs": await _programs(root), "hooks": _hooks(common)})
    (git_dir / NOTE).write_text(text, encoding="utf-8")


async def planted_programs(git_dir: Path, root: Path, common: Path) -> tuple[str, ...]:
    """The settings that name a program they did not name when it was noted, and hooks that were not there as they are.

    () when nothing was noted.
    """
    found: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        noted = json.loads((git_dir / NOTE).read_text("utf-8"))
        if noted["stamp"] != _stamp(common) or any(key.startswith("include") for key in noted["programs"]):
            found += _new(await _programs(root), noted["programs"])
        if "hooks" in noted:
            found += _new(_hooks(common), noted["hooks"])
    return tuple(found)


def _new(now: Mapping[str, str], known: Mapping[str, str]) -> list[str]:
    return [key for key, value in now.items() if known.get(key) != value]


def _hooks(common: Path) -> dict[str, str]:
    """Each hook that git would run, with a digest of what it is."""
    found = {}
    for hook in sorted((common / "hooks").glob("*")):
        if hook.suffix != ".sample" and os.access(hook, os.X_OK) and not hook.is_dir():
            what = os.fsencode(hook.readlink()) if hook.is_symlink() else _beginning(hook)
            found[f"hooks/{hook.name}"] = hashlib.sha256(what).hexdigest()
    return found


def _beginning(hook: Path) -> bytes:
    try:
        return read_bounded(hook, _LONGEST)
    except HubError:  # too long, or no plain file
        told = hook.lstat()
        return f"{told.st_ino} {told.st_size} {told.st_mtime_ns} {told.st_ctime_ns}".encode()


async def _programs(root: Path) -> dict[str, str]:
    """Each such setting of the repository itself, with a digest of its values."""
    done = await git("config", "--show-scope", "--list", "-z", "--includes", cwd=root)
    parts = done.out.split(b"\0")
    found: dict[str, hashlib._Hash] = {}
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key = entry.partition(b"\n")[0].decode("utf-8", "replace")
        if scope in {b"local", b"worktree"} and _PROGRAM().fullmatch(key):
            found.setdefault(key, hashlib.sha256()).update(entry + b"\0")
    return {key: digest.hexdigest() for key, digest in sorted(found.items())}


def _stamp(common: Path) -> list[list[str | int]]:
    """By which the configuration's files are known again; what they include may lie anywhere and come later."""
    found: list[list[str | int]] = []
    for file in (
        common / "config",
        common / "config.worktree",
        *sorted(common.glob("worktrees/*/config.worktree")),
    ):
        with contextlib.suppress(FileNotFoundError):
            told = file.stat()
            found.append([file.as_posix(), told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns])
    return found
