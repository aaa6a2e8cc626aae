"""What a command line does that its words do not tell: code in another language, commands that come from elsewhere.

Owns: which programs take orders in a word or from their input, and which words are harmless all the same.
Must not: run anything, look at a file, or know a rule.

A script or a program of the project that is run by its name is none of these: its name is what a rule can be about.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import unquote

from hub.domain.interpreters import NODE, PYTHON, SHELL, Interpreter
from hub.domain.permission.commandforms import forms
from hub.domain.permission.commandline import (
    FINDERS,
    RUNNERS,
    SAYERS,
    SHELLS,
    Command,
    commands,
    run,
    verb_of_git,
)
from hub.domain.permission.quoting import HOLE
from hub.domain.permission.reach import READERS
from hub.domain.permission.scripts import scripts_of
from hub.domain.permission.sed import REPLACES, SEDS, edits, edits_of

_PERL = r"perl[\d.]*|ruby[\d.]*|raku|lua(?:jit)?[\d.]*|julia|osascript|elixir|R|Rscript|ghc|scala|groovy"
_CODERS = (
    PYTHON,
    Interpreter(_PERL, r"-[A-Za-z\d.]*(?:[eE].*|[mM][^\s;({]*[\s;({].*)", valued=r"-[rISCLo]"),
    NODE,
    Interpreter(r"php[\d.]*", r"-[rRBE].*", valued=r"-[cdtzS]"),
    Interpreter(r"erl|racket|guile|sbcl|clisp|clojure|bb|tclsh[\d.]*|wish[\d.]*|pwsh|powershell", r"-.+"),
    SHELL,
)
"""Without a file to read, each takes code from its input."""
_ASKED = re.compile(r"-V+|-v|-h|--version|--help|--test(?:-.*)?|--check|--run|-\?")
_FROM_INPUT = re.compile(r"-[A-Za-z]*s[A-Za-z]*")
_SERVES = frozenset({
    "http.server", "timeit", "code", "pdb", "zipfile", "tarfile", "pydoc", "trace", "profile", "cProfile", "runpy",
    "asyncio",
})  # fmt: skip
"""Modules of Python that take code, or whole folders."""
_GIT = READERS | {
    "add", "am", "apply", "archive", "bisect", "branch", "bugreport", "bundle", "checkout", "cherry-pick", "clean",
    "clone", "column", "commit", "commit-graph", "commit-tree", "config", "credential", "diagnose", "fast-export",
    "fast-import", "fetch", "filter-branch", "filter-repo", "flow", "for-each-repo", "format-patch", "gc", "gui",
    "hash-object", "hook", "init", "interpret-trailers", "lfs", "maintenance", "merge", "merge-file", "merge-index",
    "merge-tree", "mergetool", "mktree", "mv", "notes", "pack-refs", "prune", "pull", "read-tree", "rebase",
    "reflog", "remote", "repack", "replace", "request-pull", "rerere", "reset", "restore", "revert", "rm",
    "send-email", "sparse-checkout", "stage", "stash", "stripspace", "submodule", "subtree", "switch",
    "symbolic-ref", "tag", "unpack-file", "update-index", "update-ref", "update-server-info", "worktree",
    "write-tree",
}  # fmt: skip
"""What git itself calls a command. Any other may be an alias, or a program beside it."""
_SCRIPTED = frozenset(
    [
     "ed", "ex", "red", "vi", "vim", "nvim", "view", "emacs", "gdb", "lldb", "expect", "dc", "at", "batch",
     "crontab", "run-parts", "sftp", "ftp", "lftp", "telnet"
    ]
)  # fmt: skip
"""Programs that are told what to do by a text of their own, from wherever it comes."""
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_AWK = re.compile(r"system\s*\(|(?<!\|)\|(?!\|)|getline|print[^;}\n]*>|@\w|\bfflush\b|\bARG[VC]\b")
_SEPARATES = re.compile(r"(?:-F)?\W*")
"""The sign between two fields, `-F '|'`: without a letter it is no program, wherever it stands."""
_TOLD_BY_FILES = _AWKS | SEDS | {"make", "gmake", "just"}
_MAKES = frozenset({"make", "gmake"})
_MADE_UP = re.compile(r"--ev|-E")
_SCRIPT_FILE = re.compile(r"-[A-Za-z]*f|--(?:fi|make|just)[a-z]*")
_INPUT = re.compile(r"-$|/+(?:dev|proc)/")
"""A file that is what somebody says just then."""
_DATA = re.compile(r"(?:--?[\w-]+=)?(?:\w+=)?data:")
"""An address that holds the file itself."""
_RUN = Interpreter(r"deno|bun|uv", code=r"(?!)", valued=r"-[A-Za-z]*[cdfilprwCFLP]")
"""Behind their `run`, `-` is the code that they read."""
_SCRIPT_VERBS = {NODE: {"run", "test", "serve", "bench", "repl", "watch"}, _RUN: {"run"}}
"""Behind these, too, stand options and the script."""
_OPEN_OPTION = re.compile(
    r"--(?!(?:no-(?!extra|group|.*package).*|all-.*|(?:allow|deny)-(?:all|env|ffi|import|net|read|run|sys|write)"
    r"|active|bun|dev|exact|frozen|hot|isolated|locked|offline|quiet|silent|verbose|watch)$)[a-z][\w-]+"
)
"""The word behind it may be its value; those that never take one are left out."""
_LISTED = {"curl": ("-K", "--config"), "wget": ("-i", "--input-file"), "aria2c": ("-i", "--input-file")}
"""Programs that read in a file which addresses they ask, and where they write the answers."""
_UNPACKERS = frozenset({"patch", "unzip", "unrar", "cpio", "pax", "7z", "7za"})
_UNPACKS = re.compile(r"-?[A-Za-z]*x[A-Za-z]*|--(?:extract|get)")
_ANSWERS = re.compile(r"^(?:python[\d.]* -m )?hub (?:.* )?(?:approve|trust)(?: |$)|/api/approvals/")
_SQL = re.compile(
    r"(?:^|\n)\s*\.(?!(?:tables?|(?:full)?schema|databases|ind(?:exes|ices)|headers?|mode|stats|timer|show|help|quit|exit)\b)\w"
    r"|readfile|writefile|load_extension|edit\s*\(|\\!|(?:^|;)\s*(?:system|pager|tee|source)\s"
)
_LOADS = re.compile(
    r"(?<![\w-])GIT_CONFIG_(?:GLOBAL|SYSTEM)=(?!/dev/null(?:\s|$))\S"
    r"|(?<![\w-])(?:GIT_(?:EXEC_PATH|TEMPLATE_DIR)|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|ZDOTDIR|PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|_?J(?:AVA_TOOL|DK_JAVA|AVA)_OPTIONS)=\S"
    r"|(?<![\w./-])enable\s(?:-\w+\s+)*-\w*f"
)
"""Settings with which any program runs code of another file first."""
_FOREIGN = re.compile(
    r"(?i)(?:-c)?(?:core\.hookspath|include(?:if\.[^=]*)?\.path|--exec-path)=(?!/dev/null\Z)[^-=]"
)
_READERS = SAYERS | {
    "chmod",
    "ls",
    "cat",
    "test",
    "[",
    "[[",
    "grep",
    "head",
    "rg",
    "tail",
    "wc",
    "file",
    "stat",
    "shellcheck",
    "which",
    "rm",
}
"""They change none of the files that they name."""
_LAUNCHERS = frozenset({"go", "deno", "dart", "docker", "podman", "nerdctl", "kubectl"})
_VERBS = frozenset({"run", "exec"})
_DATABASES = frozenset({"sqlite3", "duckdb", "psql", "mysql", "mariadb"})


def runs_code(line: str) -> bool:
    """Whether it runs what no rule can read."""
    others = [command for command in commands(line) if command.program not in SHELLS]
    told = bool(others) and all(_says(command) for command in others)
    return (
        _LOADS.search(line) is not None
        or _runs_written(line)
        or any(_codes(command, told=told) for command in run(line))
    )


def _runs_written(line: str) -> bool:
    """Whether it runs a script that it writes itself, so that nobody can read that before."""
    ran: dict[str, set[tuple[str, ...]]] = {}
    for command in commands(line):
        for script in scripts_of(command):
            ran.setdefault(posixpath.basename(script.name), set()).add(command.words)
    return any(
        _writes(command, plain="<<" in line)
        and any(ran.get(name, set()) - _itself(command, name) for name in _named(command))
        for command in (commands(line) if ran else ())
    )


def _itself(command: Command, name: str) -> set[tuple[str, ...]]:
    """The command, where the word that it may run is the only one that it may write: `git checkout -- x`."""
    words = [word for word in (*command.words, *command.files) if posixpath.basename(word) == name]
    return {command.words} if len(words) == 1 and command.program not in FINDERS else set()


def _named(command: Command) -> Iterator[str]:
    words = command.files if command.program in _READERS else (*command.files, *command.words[1:])
    if command.program in SEDS:
        told = edits_of(command.words[1:])
        words = tuple(word for word in words if word not in told)
    return (posixpath.basename(word) for word in words)


def _writes(command: Command, *, plain: bool) -> bool:
    """Whether it may change a file that it names, other than by what stands in the line itself.

    Args:
        command: The command.
        plain: Whether a text stands in the line (`<<`), which is read as commands.
    """
    runs = command.program in _LAUNCHERS and not _VERBS.isdisjoint(command.words[1:2])
    if (
        runs
        or command.program in SHELLS | RUNNERS
        or (command.program == "cat" and plain and len(command.words) == 1)
    ):
        return False
    if command.program == "git":
        return verb_of_git(command.words[1:])[0] in ("checkout", "restore", "mv")
    return bool(command.words) and not (command.program in SAYERS and _says(command))


def writes_unnamed(line: str) -> bool:
    """Whether it writes files whose names stand elsewhere: in a patch, in an archive."""
    return any(_unpacks(command.program, command.words[1:]) for command in run(line))


def speaks_for_user(line: str) -> bool:
    """Whether it could answer in the user's place what the agent itself has asked."""
    return any(_ANSWERS.search(unquote(form)) for form in forms(line))


def _says(command: Command) -> bool:
    """Whether a shell that is fed by it gets just its words."""
    return command.program in SAYERS and not any(
        sign in word for word in command.words for sign in ("\\", "%", HOLE, "$", "-")
    )


def _codes(command: Command, *, told: bool) -> bool:
    program, rest = command.program, command.words[1:]
    if program in SHELLS and any(_FROM_INPUT.fullmatch(word) for word in rest):
        return True
    if _RUN.name.fullmatch(program) and _addressed(rest, _RUN):
        return True
    for coder in _CODERS:
        if coder.name.fullmatch(program):
            told = told and program in SHELLS and not command.files
            return _addressed(rest, coder) or _inline(rest, coder, told=told)
    return (
        (program == "git" and (_alias(rest) or _of_other_files(rest)))
        or (program in _SCRIPTED and not any(_ASKED.fullmatch(word) for word in rest))
        or (program in _AWKS and any(_AWK.search(word) for word in rest if not _SEPARATES.fullmatch(word)))
        or (program in _TOLD_BY_FILES and _by_input(rest))
        or (program in ("source", ".") and any(map(_INPUT.match, rest)))
        or (program in _MAKES and any(map(_MADE_UP.match, rest)))
        or (program in SEDS and not all(edits(word) for word in edits_of(rest)))
        or any(word.startswith(option) for option in _LISTED.get(program, ()) for word in rest)
        or (program in _DATABASES and any(_SQL.search(word) for word in rest))
    )


def _of_other_files(rest: Sequence[str]) -> bool:
    """Whether git is told of a file, or of a folder of programs, that says what it runs."""
    words = (
        f"{last}={word}" if verb_of_git(rest)[0] == "config" else word for last, word in pairwise(("", *rest))
    )
    return any(map(_FOREIGN.match, words))


def _alias(rest: Sequence[str]) -> bool:
    """Whether what git is to do is none of its own commands."""
    verb, _ = verb_of_git(rest)
    return bool(verb) and verb not in _GIT


def _addressed(rest: Sequence[str], coder: Interpreter) -> bool:
    """Whether an address stands where a program looks for code, before its script or module, or as that; or its input."""
    ran = False
    for last, word in pairwise(("", *rest)):
        if _DATA.match(word) or (ran and _INPUT.match(word)):
            return True
        option = word.startswith("-") or coder.valued.fullmatch(last) or _OPEN_OPTION.fullmatch(last)
        verb = word in _SCRIPT_VERBS.get(coder, ())
        if coder.module.fullmatch(word) or not (option or verb):
            return False
        ran = ran or (verb and coder is _RUN)
    return False


def _inline(rest: Sequence[str], coder: Interpreter, *, told: bool) -> bool:
    """Whether a program gets its code here: behind an option, or from its input because it is given no file."""
    words, read, last = iter(rest), False, ""
    for word in words:
        if coder.code.fullmatch(word):
            if coder is SHELL:
                return False  # a line, which is read as one
            if word[-1] not in "eE" or not _replaces_only(next(words, "")):
                return True
            read = True
            continue
        if module := coder.module.fullmatch(word):
            return (module[1] or next(words, "")) in _SERVES
        if _ASKED.fullmatch(word) and (word != "-v" or word is rest[-1]):
            return False  # behind `-v` some go on with what they are given
        if coder.valued.fullmatch(word):
            next(words, None)
        elif _INPUT.match(word):
            break
        elif not word.startswith("-") and not _OPEN_OPTION.fullmatch(last):
            return False
        last = word
    return not (told or read)


def _replaces_only(code: str) -> bool:
    """One replacement, of Perl or in its way: it may hold code only behind `@{`, `${` or `(?{`."""
    found = REPLACES.fullmatch(code.strip().rstrip(";"))
    return found is not None and "e" not in found[2] and not re.search(r"[@$]\{|\(\?\??\{", code)


def _by_input(rest: Sequence[str]) -> bool:
    """Whether the file that tells a program what to do is what somebody says just then: `sed -f <(x)`, `make -f -`."""
    given = (after for word, after in pairwise((*rest, "")) if _SCRIPT_FILE.fullmatch(word))
    return any(not after or _INPUT.match(after) for after in given)


def _unpacks(program: str, rest: Sequence[str]) -> bool:
    if program in ("tar", "bsdtar"):
        return any(_UNPACKS.fullmatch(word) for word in rest[:1]) or bool(
            {"-x", "--extract", "--get"} & set(rest)
        )
    return program in _UNPACKERS or (program == "git" and verb_of_git(rest)[0] in ("apply", "am"))
