"""A shell's command line: what it runs and which files it names, as far as that can be seen without running it.

Owns: cutting a line into its commands and their words, and every form in which a rule may mean one of them.
Must not: run anything, look at a file, or know a rule.

A line is cut the way a shell cuts it, but for what only a running shell knows: variables, what a script does, a name that
is put together. Where it cannot be read (a quote that is not closed) its raw pieces are taken. What is in doubt is taken
both ways: a word that holds a line of its own (`sh -c '...'`) is read as one, a program that runs another
(`env`, `xargs`, `sudo`) may run what any of its words begins, and options before a subcommand may not be there.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs

from hub.domain.permission.shellword import braced, readings

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
        "coproc",
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
        "aws-vault",
        "bun",
        "bunx",
        "bwrap",
        "chrt",
        "dbus-run-session",
        "direnv",
        "dotenv",
        "entr",
        "fakeroot",
        "firejail",
        "gdb",
        "hyperfine",
        "mise",
        "nix",
        "nix-shell",
        "npm",
        "numactl",
        "pkexec",
        "pnpm",
        "prlimit",
        "proot",
        "proxychains",
        "proxychains4",
        "rtk",
        "runuser",
        "screen",
        "systemd-run",
        "time",
        "taskset",
        "tmux",
        "torify",
        "torsocks",
        "xvfb-run",
        "yarn",
    ]
)
"""Programs that run the program which one of their words names."""
_RUNS = frozenset({"--", "exec", "run"})
"""Words behind which any program may expect the name of another."""
_LOADER = re.compile(r"ld[\w.-]*\.so[\d.]*")
_SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "source", ".", "eval", "xargs", "parallel"}
)
_SAYERS = frozenset({"echo", "printf"})
"""What they say, a shell of the same line may run."""
LONGEST = 512
"""Words of a command that are looked at for what it runs; what has more, nobody can judge by rules."""
_OPTIONS = 32
"""Options before a subcommand that are looked past."""
_GOES = frozenset({"-C", "--directory", "--cwd", "--chdir"})
_SEARCHERS = frozenset(["rg", "ag", "ack", "ugrep"])
_GREPS = frozenset(["grep", "egrep", "fgrep", "zgrep"])
_TAKERS = frozenset({"tar", "bsdtar", "zip", "7z", "7za", "rsync", "cpio", "pax"})
_COPIERS = frozenset({"cp", "scp", "diff", "gcp"})
_DEEP = re.compile(r"-[A-Za-z]*[arR][A-Za-z]*|--(?:archive|recursive)")
_FEEDERS = frozenset({"xargs", "parallel"})
"""What they are told to read, nobody sees."""
_FOR_EACH = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
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
    return list(_commands(line, ("",), _DEPTH, set()))


def _commands(
    line: str, folders: tuple[str, ...], depth: int, read: set[tuple[str, tuple[str, ...]]]
) -> Iterator[Command]:
    if (line, folders) in read:
        return
    read.add((line, folders))
    for words, files in (cut for reading in readings(line) for cut in _cut(reading)):
        found = Command(tuple(words), tuple(files), (*folders, *_moved(words, folders)))
        yield found
        if found.program in ("cd", "pushd"):
            there = next((word for word in words[1:] if not word.startswith("-")), "~")
            folders = (*folders, *dict.fromkeys(posixpath.join(base, there) for base in folders[-2:]))
        for word in (*words, *files):
            if depth and word != line and _NESTED.search(word):
                # `alias.x=!rm x`, `core.pager=rm x`: what stands behind the sign is a line too.
                for part in dict.fromkeys((word.lstrip("!"), word.partition("=")[2].lstrip("!"))):
                    yield from _commands(part, folders, depth - 1, read)


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
            yield from _both(words, files)
            words, files, target = [], [], False
    yield from _both(words, files)


def _both(words: list[str], files: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """A command as it stands and, where it has braces, with what they stand for; nothing of an empty one."""
    if not words and not files:
        return
    yield _bare(words), files
    if any("{" in word for word in (*words, *files)):
        yield (
            _bare([each for word in words for each in braced(word)]),
            [each for word in files for each in braced(word)],
        )


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
    every = commands(line)
    fed = any(command.program in _SHELLS for command in every)
    for command in every:
        for start in _starts(command, fed=fed):
            rest = command.words[start:LONGEST]
            found[" ".join(rest)] = None
            for words in ((posixpath.basename(rest[0]), *rest[1:]), *_past_options(rest)):
                found[" ".join(words)] = None
    return list(found)


def _starts(command: Command, *, fed: bool) -> Iterator[int]:
    """At which words a program may begin."""
    words, program = command.words[:LONGEST], command.program
    every = program in _RUNNERS or _LOADER.fullmatch(program) or (fed and program in _SAYERS)
    behind = (
        0 if every else next((place for place, word in enumerate(words) if word in _RUNS), len(words)) + 1
    )
    yield from (0,) if words and behind else ()
    yield from range(behind, len(words))


def _past_options(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """`git -C there push` is `git push`, `git -c alias.p=push p` too: without what may be options and their values."""
    program, places = posixpath.basename(words[0]), [1] if len(words) > 1 else []
    for place in places:
        if len(places) > _OPTIONS or not words[place].startswith("-"):
            continue
        for following in (place + 1, place + 2):
            if following < len(words) and following not in places:
                places.append(following)
                yield program, *words[following:]
        name, _, value = (words[place + 1] if place + 1 < len(words) else "").partition("=")
        if name.startswith("alias."):
            yield program, value


def named(line: str) -> list[tuple[str, str]]:
    """(folder, word) of every word that may name a file; the folder is relative to where the line runs."""
    found: dict[tuple[str, str], None] = {}
    for command in commands(line):
        for word in (*command.words, *command.files):
            for part in _parts(word):
                found.update(dict.fromkeys((folder, part) for folder in command.folders))
    return list(found)


_GLUED = 2
"""Letters of a short option, behind which its value may stand: `-fsecret`."""


def _parts(word: str) -> Iterator[str]:
    """The word, and what it may name behind a sign: `--file=x`, `if=x`, `@x`, `HEAD:x`."""
    yield word
    if word.startswith("-") and not word.startswith("--") and len(word) > _GLUED:
        yield word[_GLUED:]
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
    if program in _FEEDERS or (program == "git" and "archive" in rest):
        return (".",)
    if _takes(program, rest):
        return tuple(word for word in rest if not word.startswith("-")) or (".",)
    if program == "git" and "grep" in rest:
        program, rest = "rg", rest[rest.index("grep") + 1 :]
    deep = program in _SEARCHERS or (program in _GREPS and any(_BELOW.fullmatch(word) for word in rest))
    if not deep:
        return ()
    # The first is what is looked for, unless an option says so; rather a folder too many.
    return tuple(word for word in rest if not word.startswith("-"))[1:] or (".",)


def _takes(program: str, rest: Sequence[str]) -> bool:
    """Whether it reads all that lies below the folders that it is given."""
    if program in _COPIERS:
        return any(_DEEP.fullmatch(word) for word in rest)
    if program == "find":
        return not _FOR_EACH.isdisjoint(rest)
    return program in _TAKERS
