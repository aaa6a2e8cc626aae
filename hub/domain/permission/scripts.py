"""Scripts of a shell that a command line runs by their names, and the lines in them.

Owns: which words of a line name such a script, or an entry of a `package.json`, and what of it a shell would run.
Must not: run anything, look at a file, or know a rule.

What is in a script in plain words is judged as if the line said it. What is not plain is let be: a script may be any
program, and most are the user's own.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence

import attrs

from hub.domain.permission.commandline import Command, run

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "source", "."})
_INLINE = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_PACKAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUN = frozenset({"run", "run-script"})
_KNOWN = frozenset({"test", "start", "stop", "restart"})
"""Entries that need no `run` before them."""
_OF_A_SHELL = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?(?:ba|z|da|k|a)?sh\b")
_COMMENT = re.compile(r"(?m)^\s*#.*$")


@attrs.frozen
class Script:
    """A file that a line runs by its name.

    Attributes:
        name: Relative to where the line runs, absolute, or from `~`.
        entry: Which script of a `package.json`; "" = the file is one of a shell.
        named: Whether a shell is told to read it, whatever its first line says.
    """

    name: str
    entry: str = ""
    named: bool = False


def scripts(line: str) -> list[Script]:
    """Every script that the line runs by its name."""
    return list(dict.fromkeys(script for command in run(line) for script in _of(command)))


def said(script: Script, text: str) -> str:
    """The command line that the file holds; "" where it holds none, or in another language."""
    if script.entry:
        return _of_package(text, script.entry)
    if not script.named and text.startswith("#!") and not _OF_A_SHELL.match(text):
        return ""
    return "" if "\0" in text else _COMMENT.sub("", text).strip()


def _of(command: Command) -> Iterator[Script]:
    program, rest = command.program, command.words[1:]
    for folder in command.folders:
        if program in _SHELLS:
            given = [word for word in rest if not word.startswith(("-", "+"))]
            if given and not any(_INLINE.fullmatch(word) for word in rest):
                yield Script(_at(folder, given[0]), named=True)
        elif program in _PACKAGERS:
            yield from (Script(_at(folder, "package.json"), entry) for entry in _entries(program, rest))
        elif "/" in command.words[0]:
            yield Script(_at(folder, command.words[0]))


def _at(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))


def _entries(program: str, rest: Sequence[str]) -> tuple[str, ...]:
    given = [word for word in rest if not word.startswith("-")]
    if given[:1] and given[0] in _RUN:
        given = given[1:]
    elif not given or (given[0] not in _KNOWN and program != "yarn"):
        return ()
    return tuple(f"{when}{given[0]}" for when in ("pre", "", "post")) if given else ()


def _of_package(text: str, entry: str) -> str:
    try:
        found = json.loads(text)["scripts"][entry]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    return found if isinstance(found, str) else ""
