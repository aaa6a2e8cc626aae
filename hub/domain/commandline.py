"""A shell's command line: what it runs and which files it names, as far as that can be seen without running it.

Owns: cutting a line into its commands and their words, and every form in which a rule may mean one of them.
Must not: run anything, look at a file, or know a rule.

A line is cut the way a shell cuts it, but for what only a running shell knows: variables, what a script does, a name that
is put together. Where it cannot be read (a quote that is not closed) its raw pieces are taken. What is in doubt is taken
both ways: a word that holds a line of its own (`sh -c '...'`) is read as one, and a program that runs another
(`env`, `xargs`, `sudo`) may run what any of its words begins.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

import attrs

_JOINTS = ";&|()\n`"
_DEPTH = 4
_MOST = 2_000
"""Words that are looked at; a longer line is nothing anybody wrote."""
_DUPLICATED = re.compile(r"(?<!\S)\d?[<>]&\d|(?<!\S)\d+(?=[<>])")
"""`2>&1` begins no command, and `2>file` has no word `2`."""
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_NESTED = re.compile(r"[\s;&|()`]")
_REDIRECTIONS = frozenset({"<", ">", ">>", "<<", "<<<", "<>", ">|", "&>", "&>>", ">&", "<&"})
_KEYWORDS = frozenset(
    [
        "!",
        "{",
        "}",
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "while",
        "until",
        "do",
        "done",
        "for",
        "select",
        "case",
        "esac",
        "in",
        "function",
        "time",
    ]
)
_RUNNERS = frozenset(
    [
        "sudo",
        "doas",
        "su",
        "env",
        "command",
        "builtin",
        "exec",
        "nohup",
        "nice",
        "ionice",
        "timeout",
        "stdbuf",
        "setsid",
        "xargs",
        "parallel",
        "watch",
        "find",
        "fd",
        "chroot",
        "unshare",
        "nsenter",
        "busybox",
        "toybox",
        "eval",
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "ash",
        "fish",
        "script",
        "strace",
        "ltrace",
        "unbuffer",
        "caffeinate",
        "npx",
        "uvx",
        "uv",
        "poetry",
        "pipenv",
        "docker",
        "podman",
        "ssh",
        "flock",
    ]
)
"""Programs that run the program which one of their words names."""
_GOES = frozenset({"-C", "--directory", "--cwd", "--chdir"})
_SEARCHERS = frozenset(["rg", "ag", "ack", "ugrep"])
_GREPS = frozenset(["grep", "egrep", "fgrep", "zgrep"])
_BELOW = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive|--directories=recurse")


@attrs.frozen
class Command:
    """One simple command of a line."""

    words: tuple[str, ...]
    """Without quotes, assignments before it and redirections."""
    files: tuple[str, ...]
    """What it is redirected from and to."""
    folders: tuple[str, ...]
    """Where it may run, relative to where the line does: every `cd` before it is taken and not taken."""

    @property
    def program(self) -> str:
        """The name of the program, without its folder; "" of a line that only redirects."""
        return posixpath.basename(self.words[0]) if self.words else ""


def commands(line: str) -> list[Command]:
    """Every simple command of the line, those within words and substitutions too."""
    return list(_commands(line, ("",), _DEPTH))


def _commands(line: str, folders: tuple[str, ...], depth: int) -> Iterator[Command]:
    for words, files in _cut(line):
        found = Command(tuple(words), tuple(files), (*folders, *_moved(words, folders)))
        yield found
        if found.program in ("cd", "pushd"):
            there = next((word for word in words[1:] if not word.startswith("-")), "~")
            folders = (*folders, *dict.fromkeys(posixpath.join(base, there) for base in folders[-2:]))
        for word in (*words, *files):
            if depth and word != line and _NESTED.search(word):
                yield from _commands(word, folders, depth - 1)


def _moved(words: list[str], folders: tuple[str, ...]) -> Iterator[str]:
    """Where a command is told to go first: `git -C there`, `make --directory=there`."""
    for option, word in pairwise(words):
        if option in _GOES:
            yield posixpath.join(folders[-1], word)
    for word in words:
        option, found, there = word.partition("=")
        if found and option in _GOES:
            yield posixpath.join(folders[-1], there)


def _cut(line: str) -> Iterator[tuple[list[str], list[str]]]:
    """(words, redirections) of each command; what ends it is dropped."""
    words: list[str] = []
    files: list[str] = []
    target = False
    for token, joint in _tokens(line):
        if not joint:
            (files if target else words).append(token)
            target = False
        elif token in _REDIRECTIONS:
            target = True
        else:
            if words or files:
                yield _bare(words), files
            words, files, target = [], [], False
    if words or files:
        yield _bare(words), files


def _bare(words: list[str]) -> list[str]:
    """Without keywords and assignments before it; a line of assignments alone stays, for it may hold a substitution."""
    for place, word in enumerate(words):
        if word not in _KEYWORDS and not _ASSIGNED.match(word):
            return words[place:]
    return words


def _tokens(line: str) -> Iterator[tuple[str, bool]]:
    """(text, whether it stands between words)."""
    plain = _DUPLICATED.sub(" ", line.replace("\\\n", "").replace("$'", "'").replace('$"', '"'))
    lexer = shlex.shlex(plain, posix=True, punctuation_chars=_JOINTS + "<>")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    found = []
    try:
        for _ in range(_MOST):
            token = lexer.get_token()
            if token is None:
                break
            found.append(token)
    except ValueError:
        found = re.findall(
            rf"[{re.escape(_JOINTS)}<>]+|[^\s{re.escape(_JOINTS)}<>]+|\n", re.sub(r"[\"'\\]", "", plain)
        )
    for token in found:
        between = bool(token) and all(letter in _JOINTS + "<>" for letter in token)
        yield token, between


def forms(line: str) -> list[str]:
    """Every text that a rule about a command may mean: each command with and without what stands before it."""
    found: dict[str, None] = {}
    for command in commands(line):
        words = command.words
        if not words:
            continue
        starts = range(len(words)) if command.program in _RUNNERS else (0,)
        for start in starts:
            rest = words[start:]
            found[" ".join(rest)] = None
            found[" ".join((posixpath.basename(rest[0]), *rest[1:]))] = None
    return list(found)


def named(line: str) -> list[tuple[str, str]]:
    """(folder, word) of every word that may name a file; the folder is relative to where the line runs."""
    found: dict[tuple[str, str], None] = {}
    for command in commands(line):
        for word in (*command.words, *command.files):
            for part in _parts(word):
                found.update(dict.fromkeys((folder, part) for folder in command.folders))
    return list(found)


def _parts(word: str) -> Iterator[str]:
    """The word, and what it may name behind a sign: `--file=x`, `if=x`, `@x`, `HEAD:x`."""
    yield word
    for sign in "=@:":
        _, found, rest = word.partition(sign)
        if found and rest:
            yield rest


def searched(line: str) -> list[tuple[str, str]]:
    """(folder, word) of every folder below which the line looks into files."""
    return [
        (folder, word) for command in commands(line) for word in _below(command) for folder in command.folders
    ]


def _below(command: Command) -> tuple[str, ...]:
    words = command.words
    program, rest = command.program, list(words[1:])
    if program == "git" and "grep" in rest:
        program, rest = "rg", rest[rest.index("grep") + 1 :]
    deep = program in _SEARCHERS or (program in _GREPS and any(_BELOW.fullmatch(word) for word in rest))
    if not deep:
        return ()
    # The first is what is looked for, unless an option says so; rather a folder too many.
    return tuple(word for word in rest if not word.startswith("-"))[1:] or (".",)
