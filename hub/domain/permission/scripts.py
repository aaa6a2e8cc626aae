"""Scripts of a shell that a command line runs by their names, and the lines in them.

Owns: which words of a line name such a script, an entry of a `package.json`, or what a Makefile or justfile makes, and what
of it a shell would run.
Must not: run anything, look at a file, or know a rule.

What is in a script in plain words is judged as if the line said it. What is not plain is let be: a script may be any
program, and most are the user's own.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import attrs

from hub.domain.interpreters import SHELL
from hub.domain.permission.commandline import Command, commands, run_by
from hub.domain.permission.cutting import ASSIGNED
from hub.domain.permission.recipes import of_just, of_make

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "source", "."})
_FIRST = frozenset({"--rcfile", "--init-file"})
_PACKAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUN = frozenset({"run", "run-script"})
_KNOWN = frozenset({"test", "start", "stop", "restart"})
"""Entries that need no `run` before them."""
_MAKERS: Mapping[str, tuple[tuple[str, ...], Callable[[str, Sequence[str]], str]]] = {
    **dict.fromkeys(("make", "gmake"), (("GNUmakefile", "makefile", "Makefile"), of_make)),
    "just": (("justfile", "Justfile", ".justfile"), of_just),
}
"""A program -> the files that it looks for, and what it has a shell run."""
_FILE = re.compile(r"(?:-f|--file|--makefile|--justfile)")
_VALUED = frozenset(
    ["-C", "--directory", "-I", "--include-dir", "-o", "-W", "-l", "-d", "--working-directory", "--shell"]
)
_OF_A_SHELL = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?(?:ba|z|da|k|a)?sh\b")
_COMMENT = re.compile(r"(?m)^\s*#.*$")


@attrs.frozen
class Script:
    """A file that a line runs by its name.

    Attributes:
        name: Relative to where the line runs, absolute, or from `~`.
        entry: Which script of a `package.json`, or what a maker is told to make; "" = the file is one of a shell.
        named: Whether a shell is told to read it, whatever its first line says.
        maker: The program that reads it: `make`, `just`; "" = none.
    """

    name: str
    entry: str = ""
    named: bool = False
    maker: str = ""


def scripts(line: str) -> list[Script]:
    """Every script that the line runs by its name."""
    return list(dict.fromkeys(script for command in commands(line) for script in scripts_of(command)))


def scripts_of(command: Command) -> Iterator[Script]:
    """Every script that one of its commands runs."""
    return (script for one in run_by(command) for script in _of(one))


def said(script: Script, text: str) -> str:
    """The command line that the file holds; "" where it holds none, or in another language."""
    if script.maker:
        line, folder = (
            _MAKERS[script.maker][1](text, shlex.split(script.entry)),
            posixpath.dirname(script.name),
        )
        return f"cd {shlex.quote(folder)}\n{line}" if line and folder else line
    if script.entry:
        return _of_package(text, script.entry)
    if not script.named and text.startswith("#!") and not _OF_A_SHELL.match(text):
        return ""
    return "" if "\0" in text else _COMMENT.sub("", text).strip()


def _of(command: Command) -> Iterator[Script]:
    program, rest = command.program, command.words[1:]
    for folder in command.folders:
        if program in _SHELLS:
            first = [after for word, after in pairwise(rest) if word in _FIRST]
            yield from (Script(_at(folder, name), named=True) for name in first)
            told = [word for last, word in pairwise(("", *rest)) if not SHELL.valued.fullmatch(last)]
            given = [word for word in told if not word.startswith(("-", "+"))]
            if given and not any(SHELL.code.fullmatch(word) for word in rest):
                yield Script(_at(folder, given[0]), named=True)
        elif program in _PACKAGERS:
            yield from (Script(_at(folder, "package.json"), entry) for entry in _entries(program, rest))
        elif program in _MAKERS:
            yield from _made(program, folder, rest)
        elif "/" in command.words[0] and not ASSIGNED.match(program):
            yield Script(_at(folder, command.words[0]))


def _made(program: str, folder: str, rest: Sequence[str]) -> Iterator[Script]:
    """What a maker reads: the file that it is given, else each that it looks for."""
    words, given, files = iter(rest), list[str](), list[str]()
    for word in words:
        option, sign, value = word.partition("=")
        if _FILE.fullmatch(option):
            files.append(value if sign else next(words, ""))
        elif word.startswith("-f"):
            files.append(word.removeprefix("-f"))
        elif word in _VALUED:
            next(words, "")
        elif not word.startswith("-") and not word.isdecimal():
            given.append(word)
    for name in files or _MAKERS[program][0]:
        yield Script(_at(folder, name), shlex.join(given), maker=program)


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
