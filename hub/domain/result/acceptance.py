"""Which program and files an acceptance command is made of, and what an agent is told whose work the commands refused.

Owns: the program a command begins with, the paths it names, and those its tool takes its orders from; those words, with
how much output is in them.
Must not: look at a file, or judge a command that reads others: what a test suite says is more than its settings; decide
how often an agent is asked, or redact (who gives the output has done so).
Tests: tests/hub/domain/result/test_acceptance.py, tests/hub/domain/result/test_repair.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs

from hub.domain.text.safe import clean

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


MOST_OUTPUT: Final = 8192
"""Bytes of the commands' output, all together."""
_HEAD = (
    "You said that the task is done, but hub ran its acceptance commands in the working directory, and they failed. "
    "Find the cause and correct it. Leave the commands and what they check as they are. When you are done, hub runs "
    "them again."
)
_MISSING = "It ended with no output."


@attrs.frozen
class Refused:
    """One command that failed."""

    command: str
    how: str
    """How it ended."""
    output: str
    """Without secrets."""


def correction(refused: Sequence[Refused]) -> str:
    """The prompt for another try: each command, how it ended, and the end of its output."""
    share = MOST_OUTPUT // max(1, len(refused))
    parts = [f"$ {one.command}\n({one.how})\n{_end(clean(one.output), share)}" for one in refused]
    return "\n\n".join([_HEAD, *parts])


def _end(text: str, most: int) -> str:
    """The last lines of a text that fit; errors tend to stand at the end."""
    text = text.strip()
    if not text:
        return _MISSING
    data = text.encode()
    if len(data) <= most:
        return text
    return data[-most:].decode("utf-8", "ignore").partition("\n")[2] or data[-most:].decode("utf-8", "ignore")
