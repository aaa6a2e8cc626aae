"""Which program and files an acceptance command is made of.

Owns: the program a command begins with, the paths it names, and those its tool takes its orders from.
Must not: look at a file, or judge a command that reads others: what a test suite says is more than its settings.
"""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 64
"""Paths that are looked at for one command."""
_WORD = re.compile(r"[^\s;|&()<>\"'`$=]+")
_JAVASCRIPT = ("package.json",)
_PYTHON = ("pyproject.toml", "setup.cfg", "tox.ini")
_ORDERS: Final = {
    "npm": _JAVASCRIPT,
    "npx": _JAVASCRIPT,
    "pnpm": _JAVASCRIPT,
    "yarn": _JAVASCRIPT,
    "bun": _JAVASCRIPT,
    "deno": ("deno.json", "deno.jsonc", *_JAVASCRIPT),
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "pytest": ("pytest.ini", "conftest.py", "tests/conftest.py", *_PYTHON),
    "tox": _PYTHON,
    "nox": ("noxfile.py",),
    "ruff": ("ruff.toml", ".ruff.toml", *_PYTHON),
    "mypy": ("mypy.ini", ".mypy.ini", *_PYTHON),
    "pre-commit": (".pre-commit-config.yaml",),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml"),
    "mvn": ("pom.xml",),
    "gradle": ("build.gradle", "build.gradle.kts"),
    "rake": ("Rakefile",),
    "bundle": ("Gemfile", "Rakefile"),
}
"""What tools take their orders from, by the last part of the program's name, beside where they run."""


def orders_of(command: str) -> tuple[str, ...]:
    """The relative paths a command names, and the settings of the tools in it; most of them will be no file.

    Words of a shell are told apart roughly: one word too many is looked for in vain, and a path that is put together
    at run time is not found.
    """
    found: dict[str, None] = {}
    for word in _WORD.findall(command):
        path = _inside(word)
        if path:
            found[path] = None
        found |= dict.fromkeys(_ORDERS.get(word.rpartition("/")[2], ()))
    return tuple(found)[:MOST]


def _inside(word: str) -> str:
    """A word as a path below the worktree in its one spelling; "" when it cannot be one."""
    parts = [part for part in word.split("/") if part not in ("", ".")]
    if word.startswith(("/", "-", "~")) or ".." in parts or "\0" in word:
        return ""
    return "/".join(parts)


_ASSIGNED = re.compile(r"\s*[A-Za-z_]\w*=[^\s;|&()<>\"'`$\\]*(?=\s)")
_PROGRAM = re.compile(r"\s*([A-Za-z0-9_][\w.+-]*)(?=[\s;|&<>]|$)", re.ASCII)
_OWN = (
    "alias bg break case cd command continue echo eval exec exit export false fg for function getopts hash if jobs kill "
    "let local printf pwd read readonly return select set shift source test time times trap true type ulimit umask "
    "unalias unset until wait while"
)
_SHELLS: Final = frozenset(_OWN.split())
"""Words that a shell knows itself."""


def program_of(command: str) -> str:
    """The name by which a shell looks on PATH for what it runs first; "" where that is its own, a path or not plain.

    `make test` -> `make`, `CI=1 npm test` -> `npm`, `cd web && npm test` -> "". A function of that name is not known of.
    """
    at = 0
    while assigned := _ASSIGNED.match(command, at):
        at = assigned.end()
    found = _PROGRAM.match(command, at)
    return "" if found is None or found[1] in _SHELLS else found[1]
