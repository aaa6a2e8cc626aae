"""Which paths would put a `.hub` into a project, and which commits bring one.

Owns: the names that a file system may take for `.hub`.
Must not: touch a file, or decide what follows.

A branch that brought `.hub` would have its user's next hub read what an agent wrote. So, as git never stores a `.git`, hub
never stores a `.hub`: at any depth, for every folder may be a project's root one day; as file, link, folder or submodule;
and in every spelling that macOS or Windows would open as `.hub` (git's own rules for `.git`).
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from hub.io.git.env import git
from hub.io.git.refs import merge_base

NEVER = "hub's own folder never travels in a branch; its files are kept"
_NAME = ".hub"
_SHORT = re.compile(r"hub~[1-9]")
"""What Windows calls it where long names are not to be had."""
_SEPARATORS = re.compile(r"[/\\]")
_INVISIBLE = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
"""Letters that HFS+ does not see in a name."""


def folder_of(path: bytes) -> bytes | None:
    """The part of a path up to the first step that a file system may take for `.hub`; None where there is none."""
    if path.isascii() and b"hub" not in path.lower():
        return None
    text = path.decode("utf-8", "surrogateescape")
    start = 0
    for end in (*(found.start() for found in _SEPARATORS.finditer(text)), len(text)):
        if _is_hub(text[start:end]):
            return text[:end].encode("utf-8", "surrogateescape")
        start = end + 1
    return None


def _is_hub(step: str) -> bool:
    seen = unicodedata.normalize("NFC", step.translate(_INVISIBLE)).casefold()
    if seen == _NAME:
        return True
    # Windows passes over a stream's name, and over dots and blanks at the end.
    plain = seen.partition(":")[0].rstrip(". ")
    return plain == _NAME or _SHORT.fullmatch(plain) is not None


def folders_in(names: bytes) -> list[str]:
    """The folders of that kind among paths that end with NUL each, for people; each once."""
    found = (folder_of(name) for name in names.split(b"\0") if name)
    return list(dict.fromkeys(name.decode("utf-8", "backslashreplace") for name in found if name is not None))


async def brought_by(root: Path, commit: str) -> list[str]:
    """The folders of that kind that a merge of `commit` would put into the checkout."""
    base = await merge_base("HEAD", commit, cwd=root)
    if not base:
        listed = await git("ls-tree", "-r", "-z", "--name-only", commit, cwd=root)
    else:
        args = ("-r", "-z", "--name-only", "--no-renames", "--diff-filter=d", "--ignore-submodules=dirty")
        listed = await git("diff-tree", *args, base, commit, cwd=root)
    return folders_in(listed.out)
