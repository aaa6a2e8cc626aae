"""What a rule may mean in a command line: each command with and without what stands before it, each word that may be a file.

Owns: the forms of a command, the names in it, those of which a running shell alone knows all, and who does another's work.
Must not: cut a line, look at a file, or know a rule.

Tests: tests/hub/domain/permission/test_commandline.py
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, permutations, takewhile

import attrs

from hub.domain.permission.commandline import (
    FEEDERS,
    FINDERS,
    FOR_EACH,
    LONGEST,
    MORE,
    RUNNERS,
    SAYERS,
    SHELLS,
    Command,
    commands,
    doubtful,
    in_git,
    name_of,
    starts,
    verb_of_git,
)
from hub.domain.permission.cutting import ASSIGNED, parts
from hub.domain.permission.quoting import HOLE
from hub.domain.permission.sed import SEDS, edits, edits_of
from hub.domain.permission.wildcards import endless, globbed, overlap

_SETTING = re.compile(r"-|[A-Za-z_]\w*=|\d")
_FILLED = re.compile(r"(?:-[Ii]|--replace=|--repl=)(.*)")
"""The option of `xargs` that names the sign in whose place it puts what it reads."""
_BACK = re.compile(r"^.*/\.\./")
_STEPPED = re.compile(r"(?:^|[\s/='\"])\.\.(?:[\s/'\"]|$)")
_STEP = re.compile(r"[/=:]")
_STEPS = re.compile(r"^(?:\.\.?/+)+")
_VALUED = {
    **dict.fromkeys(FEEDERS, re.compile(r"-[adEI]|--(?:arg|del)[a-z-]*")),
    **dict.fromkeys(
        ("sudo", "doas"),
        re.compile(r"-[AbBEeHiKklNnPSsvV]*[ugCDhpRrTtU]|--(?:user|group|chdir|host|prompt)"),
    ),
    "ssh": re.compile(r"-[1246AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOopQRSWw]"),
    "flock": re.compile(r"-[sxeunoFv]*[wE]|--(?:timeout|wait|conflict-exit-code)"),
}
"""Options of a program that runs another, which a word follows."""
_NEVER = re.compile(r"(?!)")
_PLACED_BEFORE = dict.fromkeys(("ssh", "flock", "chroot"), 1)
"""Words that stand before what such a program runs: the machine, the lock, the folder."""
_GIT_RUNS = {"bisect": {"run"}, "submodule": {"foreach"}}
"""Words behind which git runs a program."""
_LINE_FOLLOWS = re.compile(r"-[A-Za-z]*c")
"""How a shell is told to run the next word."""
_WILD = re.compile(r"[*?\[]")
_SIGNS_ALONE = re.compile(r"[^\w/]*[*?\[][^\w/]*")
_ADDRESS = re.compile(r"https?://")
_HERE = re.compile(rf"https?://(?:localhost|127\.0\.0\.1):{HOLE}(?:/|$)")
_JOBS = re.compile(rf"-j{HOLE}$")
"""How many things are done at once: `make -j$(nproc)`."""
_MAKERS = frozenset({"make", "gmake", "ninja"})
_KEEPS = re.compile(r"-[A-Za-z]*[oO].*|--(?:output|remote).*")
"""Options by which `curl` writes what it gets into a file."""
_OPTIONS = 32
"""Options before a subcommand that are looked past."""
_FLAGS = re.compile(r"-[A-Za-z]{1,3}|--[a-z]+")
"""Options of one letter, and those that a letter mostly stands for."""
_FLAGS_MOST = 3

_INSTALLED = re.compile(r"(?:/usr)?(?:/local)?/s?bin/[\w.+-]+")


def forms(line: str) -> list[str]:
    """Every text that a rule about a command may mean: each command with and without what stands before it."""
    found: dict[str, None] = {}
    every = commands(line)
    fed = any(command.program in SHELLS for command in every)
    for command in every:
        for start in starts(command, fed=fed):
            found.update(dict.fromkeys(_texts(command.words[start:LONGEST])))
            if start and any(name_of(word) in (*FEEDERS, *FINDERS) for word in command.words[:start]):
                found[" ".join((*command.words[start:LONGEST], MORE))] = None
    return list(found)


def open_forms(line: str) -> list[str]:
    """The same of the commands of which only a running shell knows all, with `HOLE` for the rest."""
    found: dict[str, None] = {}
    for command in map(_fed, doubtful(line)):
        if command.program == "eval" and HOLE in " ".join(command.words):
            found[HOLE] = None  # whatever stands before it: the value may begin another command
        for start in starts(command, fed=False) if not ASSIGNED.match(command.program) else ():
            rest = command.words[start:LONGEST]
            # What `sudo -n $x` runs nobody knows; what `npm run build $x` does is told by its other words.
            known = not rest[0].startswith(HOLE) or _surely_begins(command, start)
            if known and rest[0] not in SAYERS:
                found.update(dict.fromkeys(text for text in _texts(rest) if HOLE in text))
    return list(found)


def _surely_begins(command: Command, start: int) -> bool:
    """Whether what a program runs begins at that word, whatever the word is: by all that stands before it."""
    before = command.words[1:start]
    options = [*takewhile(lambda word: word.startswith("-"), reversed(before))]
    shell = before[: len(before) - len(options)][-1:]
    if options and _LINE_FOLLOWS.fullmatch(options[0]) and any(name_of(word) in SHELLS for word in shell):
        return True
    begin = max((place for place, word in enumerate(before, 1) if word in _runs_next(command)), default=0)
    valued = _VALUED.get(command.program, _NEVER)
    words = [
        word
        for last, word in pairwise(("", *before[begin:]))
        if not (word.startswith("-") or valued.fullmatch(last))
    ]
    placed = 0 if begin else _PLACED_BEFORE.get(command.program, 0)
    return all(_SETTING.match(word) or name_of(word) in RUNNERS for word in words[placed:])


def _runs_next(command: Command) -> Container[str]:
    """Words behind which nothing but a program stands: `find . -exec`, `git bisect run`."""
    if command.program == "git":
        return _GIT_RUNS.get(verb_of_git(command.words[1:])[0], ())
    return FOR_EACH if command.program in FINDERS else ()


def signed(line: str) -> list[str]:
    """The forms with signs in the program's name, in whose place a shell puts another; of signs alone where one reads it."""
    read = {part for word in _read_by_shells(line) for part in (word, name_of(word))}
    programs = ((form.partition(" ")[0], form) for form in forms(line))
    return [
        form
        for program, form in programs
        if _WILD.search(program) and (program in read or not _SIGNS_ALONE.fullmatch(program))
    ]


def _read_by_shells(line: str) -> set[str]:
    return {word for command in doubtful(line) for word in (*command.words, *command.files)}


def _fed(command: Command) -> Command:
    """A program that is told the words of another, with `HOLE` for those; of `xargs` alone nothing is run."""
    words = command.words
    idle = command.program == "xargs" and all(_SETTING.match(word) for word in words[1:])
    if command.program not in FEEDERS or idle:
        return command
    signs = {
        "{}",
        *(found[1] or after for word, after in pairwise(words) if (found := _FILLED.fullmatch(word))),
    }
    signs -= {""}
    filled = (
        word if before in ("-I", "-i") or _FILLED.fullmatch(word) else _replaced(word, signs)
        for before, word in pairwise(words)
    )
    return attrs.evolve(command, words=(words[0], *filled, HOLE))


def _replaced(word: str, signs: Iterable[str]) -> str:
    for sign in signs:
        word = word.replace(sign, HOLE)
    return word


def _texts(words: tuple[str, ...]) -> Iterator[str]:
    """One command, with and without its program's folder and its options, and under its plainer name."""
    program = name_of(words[0])
    yield " ".join(words)
    for form in (
        *((program, *words[1:]), (*in_git(words), *words[1:])),
        *_past_options(words),
        *_flagged((program, *words[1:])),
    ):
        yield " ".join(form)
    # A program that is copied, linked or remembered may be run under that name.
    yield from (f"{posixpath.basename(word)} {MORE}" for word in words[1:] if _INSTALLED.fullmatch(word))
    if same := _same(program, words):
        yield " ".join((same, *words[1:]))


def _same(program: str, words: tuple[str, ...]) -> str:
    """The program whose work another does under its own name; "" of none."""
    if program in ("unlink", "shred") or (program in ("find", "fd") and "-delete" in words):
        return "rm"
    return ""


def _flagged(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """`rm -fr x`, `rm x -r -f` and `rm --recursive --force x` are `rm -rf x`: the options of one letter, in every order."""
    flags = [word for word in words[1:] if _FLAGS.fullmatch(word)]
    letters = list(dict.fromkeys("".join(flag[2] if flag.startswith("--") else flag[1:] for flag in flags)))
    if not 0 < len(letters) <= _FLAGS_MOST:
        return
    rest = tuple(word for word in words if word not in flags)
    for order in permutations(letters):
        for place in (1, 2):
            yield (*rest[:place], f"-{''.join(order)}", *rest[place:])


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


@lru_cache(maxsize=16)
def open_names(line: str, *, whole: bool = False) -> list[str]:
    """What is known of the end of each word that may name a file, where only a running shell knows the rest.

    With `whole` it is each word that may name a file or an address, and `HOLE` for what is not known of it.
    """
    found: dict[str, None] = {}
    for command in doubtful(line):
        silent = command.program in _SILENT or ASSIGNED.match(command.program)
        texts = {after for before, after in pairwise(command.words) if before in _SAID}
        asked = command.program == "curl" and not any(map(_KEEPS.fullmatch, command.words))
        words = [
            word
            for word in command.words[1:]
            if not silent
            and word not in texts
            and not (asked and (_HERE if whole else _ADDRESS).match(word))
            and not (command.program in _MAKERS and _JOBS.match(word))
        ]
        for word in (*words, *command.files):
            if HOLE in word and word.partition("=")[0] not in _SAID:
                found[word if whole else _BACK.sub("/", word.rpartition(HOLE)[2])] = None
    return list(found)


def lost_names(line: str) -> list[str]:
    """Each word that may name a file below a folder which only a running shell knows: `cd $(x) && cat y`."""
    lost = (command for command in doubtful(line) if any(HOLE in folder for folder in command.folders))
    words = (word for command in lost for word in (*command.words[1:], *command.files))
    return list(dict.fromkeys(_STEPS.sub("", word) for word in words))


def named(line: str) -> list[tuple[str, str]]:
    """(folder, word) of every word that may name a file; the folder is relative to where the line runs."""
    found: dict[tuple[str, str], None] = {}
    read = _read_by_shells(line)
    for command in commands(line):
        changes = (
            [word for word in edits_of(command.words[1:]) if edits(word)] if command.program in SEDS else ()
        )
        for word in (*command.words, *command.files, *_put(command)):
            if word in changes or (word not in read and _SIGNS_ALONE.fullmatch(word)):
                continue  # `select * from t`, `* an item of a list`
            for part in _parts(word):
                found.update(dict.fromkeys((folder, part) for folder in command.folders))
    return list(found)


@lru_cache(maxsize=16)  # each rule about places asks these of the same line
def steps_back(line: str) -> bool:
    """Whether a place with `..` in it may be in the line: as it is written, or as the shell that runs it reads a word."""
    if any(map(_STEPPED.search, parts(line))):
        return True
    words = {word for command in doubtful(line) for word in (*command.words, *command.files)}
    return any(
        HOLE in word.partition("/")[2]
        or any(
            part.startswith(".") and (endless(part) or overlap(globbed(part), ".."))
            for part in _STEP.split(word)
        )
        for word in words
    )


_SILENT = SAYERS | frozenset(
    [
     ":", "[", "[[", "test", "true", "false", "exit", "return", "export", "local", "declare", "read", "let",
     "sleep", "kill", "wait", "seq", "date", "expr", "basename", "dirname", "cd", "pushd", "ls", "stat", "du",
     "mkdir", "which", "type", "for", "select"
    ]
)  # fmt: skip
"""What they are given, they do not read."""
_SAID = frozenset({"-m", "-am", "--message", "--title", "--body", "--format", "--pretty"})
"""Options whose value is a text for people."""
_PUTTERS = frozenset({"cp", "mv", "install", "ln", "gcp", "scp", "rsync"})


_FETCHERS = frozenset({"curl", "wget", "aria2c"})
"""They take a name for an address."""


def _put(command: Command) -> Iterator[str]:
    """The names that a program's files may have in the folder into which it puts them, or fetches them."""
    given = [word for word in command.words[1:] if not word.startswith("-")]
    told = [part for word in command.words[1:] if word.startswith("-") for part in _parts(word)]
    yield from (
        posixpath.join(place, posixpath.basename(word.partition("?")[0]))
        for word in given
        if "://" in word or ("/" in word and command.program in _FETCHERS)
        for place in ("", *told, *(each for each in given if "://" not in each))
    )
    if command.program in _PUTTERS and given:
        yield from (
            posixpath.join(place, posixpath.basename(word))
            for place in (given[0], given[-1], *told)
            for word in given
        )


_GLUED = 2
"""Letters of a short option, behind which its value may stand: `-fsecret`."""


def _parts(word: str) -> Iterator[str]:
    """The word, and what it may name behind a sign: `--file=x`, `if=x`, `@x`, `HEAD:x`."""
    yield word
    if word.startswith("-") and not word.startswith("--") and len(word) > _GLUED:
        yield word[_GLUED:]
    for sign in "=@:":
        parts = word.split(sign, _GLUED)
        yield from (rest for at in range(1, len(parts)) if (rest := sign.join(parts[at:])))
