"""What a command line reaches without naming it: the files below a folder, and those that git keeps.

Owns: which programs take all of a folder that they are given, and which commands of git show what files held or bring it
into the working tree.
Must not: run anything, look at a file, or know a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs

from hub.domain.permission.commandline import (
    FEEDERS,
    FOR_EACH,
    Command,
    doubtful,
    name_of,
    run,
    starts,
    verb_of_git,
)

_SEARCHERS = frozenset(["rg", "ag", "ack", "ugrep", "rgrep"])
_GREPS = frozenset(["grep", "egrep", "fgrep", "zgrep"])
_TAKERS = frozenset(
    [
     "tar", "bsdtar", "zip", "7z", "7za", "rsync", "cpio", "pax", "mv", "ln", "mount", "rclone", "restic", "borg",
     "aws", "gsutil", "azcopy", "s3cmd", "croc", "wormhole", "serve", "http-server", "diff", "bwrap", "chroot", "proot"
    ]
)  # fmt: skip
_COPIERS = frozenset({"cp", "scp", "gcp"})
_DEEP = re.compile(r"-[A-Za-z]*[arR][A-Za-z]*|--(?:ar[a-z]*|r(?:ec?|ec[a-z]+)?)")
_BY_LIST = frozenset({"fd", "fdfind", "cpio", "pax"})
_CHANGERS = frozenset({"rm", "chmod", "chown", "chgrp", "gzip", "bzip2", "xz", "zstd", "setfacl"})
_SEARCH_VALUED = re.compile(
    r"-[A-Za-z\d]*[ABCmefgtj]|--(?:i?glob|(?:in|ex)clude[a-z-]*|type[a-z-]*|(?:after-|before-)?context|max-[a-z]+|regexp|file)"
)
"""Options of a search that a word follows."""
_SOUGHT_BY_OPTION = re.compile(r"-[A-Za-z\d]*[ef]|--(?:regexp|file)")
_BELOW = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:rec|der)[a-z-]*|(?:--di[a-z]*=|-[A-Za-z]*d)?recurse")
_ELSEWHERE = re.compile(
    r"\bGIT_(?:WORK_TREE|DIR|INDEX_FILE|OBJECT_DIRECTORY)=|core\.worktree|--work-tree|--git-dir"
)
"""With these git works on other files than it seems to: what it shows or puts there nobody can say."""
_LISTS = re.compile(r"(--files0?-from)|-?[A-Za-z]*T$|-T")
"""Options behind which names are read from a file; the short one is of those that pack."""
_CLEANS = re.compile(r"-[dfinqxX]+|--(?:dry-run|force|quiet)")
"""Options of `git clean` of which those with an `n` make it a dry run; another might take a value, or undo that."""
_UNTRACKED = re.compile(r"-[a-z]*[ua][a-z]*|--(?:include-untracked|all)")
_MAGIC = re.compile(r"^:|[*?\[]")
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl"})
_VOLUMES = frozenset({"-v", "--volume", "--mount"})
_SOURCE = re.compile(r"(?:src|source)=")

_FREE = frozenset({"--no-pager", "-P", "--literal-pathspecs", "--no-optional-locks"})
"""Options of git itself that change nothing of what a command shows; `-C` is known besides."""
_SHOWS = frozenset({"diff", "show", "difftool"})
_PATCHES = frozenset(
    {"log", "whatchanged", "reflog", "stash", "diff-tree", "diff-index", "diff-files", "rev-list"}
)
_PICKS = frozenset({"add", "commit", "checkout", "reset", "restore"})
_ALL = frozenset(
    {
        "bundle",
        "fast-export",
        "clone",
        "worktree",
        "format-patch",
        "range-diff",
        "send-email",
        "filter-branch",
    }
)
READERS = frozenset(
    [
     "annotate", "blame", "cat-file", "check-attr", "check-ignore", "check-ref-format", "cherry", "count-objects",
     "describe", "diff", "diff-files", "diff-index", "diff-tree", "difftool", "for-each-ref", "fsck", "grep", "help",
     "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "push", "range-diff", "rev-list", "rev-parse",
     "shortlog", "show", "show-branch", "show-ref", "status", "var", "verify-commit", "verify-tag", "version",
     "whatchanged",
    ]
)  # fmt: skip
"""They change nothing of what another command would show."""
_LISTERS = frozenset({"branch", "remote", "tag"})
"""Nor do these where they are given no name."""
_JOINERS = frozenset({"merge", "rebase"})
_REPEATERS = frozenset({"cherry-pick", "revert"})
_MOVERS = frozenset({"checkout", "switch", "reset"})
_BRINGS = frozenset({"pull", "bisect", "read-tree", "checkout-index"})
"""What comes by these nobody knows before."""
_ONGOING = frozenset({"--abort", "--continue", "--skip", "--quit"})
_HARD = frozenset({"--hard", "--keep", "--merge"})
_SAYS = frozenset({"-m", "--message", "-s", "--strategy", "-X", "--strategy-option", "-x", "--exec"})
"""Options whose value names no commit."""
_BRANCHES = frozenset({"-b", "-B", "-c", "-C", "--orphan"})
_PATCH = re.compile(
    r"-(?:[a-zA-Z]*[pu]|U\d*|W|c|m|L.*)|--(?:patch|unified|word-diff|color-words|cc|function-context|binary).*"
)
_QUIET = re.compile(
    r"-s|--(?:no-patch|(?:short|num|dir)?stat|name-only|name-status|summary|quiet|raw)(?:=.*)?"
)
_WIDENS = re.compile(r"--(?:all|branches|tags|remotes|reflog|cached|staged|merge-base)|-g|-\d+")
_VALUED = frozenset({"-S", "-G", "-O", "--author", "--committer", "--grep", "--since", "--until", "--after", "--before",
                     "--format", "--pretty", "--diff-filter", "--output", "--inter-hunk-context"})  # fmt: skip


@attrs.frozen
class Shown:
    """A command of git that shows what files held, or brings it into the working tree, as far as it says which."""

    verb: str = ""
    """`diff`, `show`, or `log`; "" = nobody can say what it shows."""
    options: tuple[str, ...] = ()
    """Those that may show more: `--all`, `--cached`, `-3`."""
    names: tuple[str, ...] = ()
    """Commits, or paths."""
    paths: tuple[str, ...] = ()
    """What stands behind `--`."""


def searched(line: str) -> list[tuple[str, str]]:
    """(folder, word) of every folder below which the line looks into files, or takes them."""
    found = (
        (folder, word) for command in run(line) for word in _below(command) for folder in command.folders
    )
    return list(dict.fromkeys(found))


def shown(line: str) -> list[tuple[str, Shown]]:
    """(folder, command) of every command of git that shows what files held, or puts it in their place."""
    elsewhere = Shown() if _ELSEWHERE.search(line) or _changed_before(line) else None
    found = (
        (folder, one)
        for command in run(line)
        if command.program == "git"
        for one in (_shown(command.words[1:]), _brought(command.words[1:]), elsewhere)
        if one is not None
        for folder in command.folders
    )
    return list(dict.fromkeys(found))


def _changed_before(line: str) -> bool:
    """Whether it shows what an earlier command of it changes: `git add -A; git diff --cached` shows another index."""
    changed = False
    for command in doubtful(line):
        for start in starts(command, fed=False):
            if name_of(command.words[start]) != "git":
                continue
            words = command.words[start + 1 :]
            if changed and (_shown(words) or _brought(words)):
                return True
            verb, rest = verb_of_git(words)
            lists = verb in _LISTERS and all(word.startswith("-") for word in rest)
            changed = changed or not (lists or verb in READERS or not verb)
    return False


def _below(command: Command) -> tuple[str, ...]:
    program, rest = command.program, list(command.words[1:])
    given = tuple(word for word in rest if not word.startswith("-"))
    if program in FEEDERS:
        return (".",)
    if program in _CONTAINERS:
        volumes = (word for option, word in pairwise(rest) if option in _VOLUMES)
        built = given if not {"build", "cp"}.isdisjoint(given[:2]) else ()
        return (*built, *(_SOURCE.split(word)[-1].split(":")[0].split(",")[0] for word in volumes))
    lists = (_LISTS.match(word) for word in rest)
    if any(found and (found[1] or program in _TAKERS) for found in lists):
        return (".",)
    if _takes(program, rest):
        # A list of names may stand elsewhere, and `fd` looks for its first word: rather the whole folder.
        return (*given, ".") if program in _BY_LIST or not given else given
    if program == "git":
        return _below_git(rest)
    deep = (program in _SEARCHERS and not (program == "rg" and _names_only(rest))) or (
        program in _GREPS and any(_BELOW.fullmatch(word) for word in rest)
    )
    # The first is what is looked for, unless an option says so; rather a folder too many.
    sought = [
        word
        for last, word in pairwise(("", *rest))
        if not (word.startswith("-") or _SEARCH_VALUED.fullmatch(last))
    ]
    told = any(map(_SOUGHT_BY_OPTION.fullmatch, rest))
    return (tuple(sought if told else sought[1:]) or (".",)) if deep else ()


def _names_only(rest: Sequence[str]) -> bool:
    """Whether `rg` lists files without looking into them; behind an option, `--files` may be its value."""
    options = pairwise(("", *_before_paths(rest)))
    return any(word == "--files" and not last.startswith("-") for last, word in options)


def _below_git(words: Sequence[str]) -> tuple[str, ...]:
    verb, rest = verb_of_git(words)
    given = tuple(word for word in rest if not word.startswith("-"))
    behind = tuple(rest[rest.index("--") + 1 :]) if "--" in rest else ()
    match verb:
        case _ if _in_all(verb, rest, given):
            return (".",)
        case "grep":  # the first is what is looked for
            return behind or (*given[1:], ".")
        case "checkout" | "restore" | "switch":
            return _in_git(behind or (given if _BRANCHES.isdisjoint(rest) else ()), rest)
        case _:
            return _in_git(given, rest) if verb in ("rm", "mv") or "--no-index" in rest else ()


def _in_all(verb: str, rest: Sequence[str], given: tuple[str, ...]) -> bool:
    """Whether it takes every file there may be, or takes them away, without naming one."""
    if verb == "clean":
        options = [word for word in rest if word.startswith("-")]
        return not (all(map(_CLEANS.fullmatch, options)) and any("n" in word for word in options))
    if verb == "sparse-checkout":
        return given[:1] != ("list",)
    if verb == "stash":
        return any(_UNTRACKED.fullmatch(word) for word in rest)
    return verb == "archive" or (verb == "switch" and "--orphan" in rest)


def _in_git(given: tuple[str, ...], rest: Sequence[str]) -> tuple[str, ...]:
    """Of patterns that git itself reads (`*` takes slashes, `:/` begins at the root) and lists of names, all files."""
    listed = any(word.startswith("--pathspec-from") for word in rest)
    return (*given, ".") if listed or any(_MAGIC.search(word) for word in given) else given


def _takes(program: str, rest: Sequence[str]) -> bool:
    """Whether it takes all that lies below the folders that it is given."""
    if program in _COPIERS or program in _CHANGERS:
        return any(_DEEP.fullmatch(word) for word in rest)
    if program in ("find", "fd", "fdfind"):
        return not FOR_EACH.isdisjoint(rest) or "-delete" in rest
    return program in _TAKERS


def _shown(words: Sequence[str]) -> Shown | None:
    """What a command of git shows; None = nothing of what files hold, but for files that it names."""
    verb, rest = verb_of_git(words)
    before = words[: len(words) - len(rest) - 1]
    plain = all(word in _FREE or word == "-C" for word in before if word.startswith("-"))
    if verb == "cat-file":
        return (
            Shown()
            if any(":" not in word for word in rest if not word.startswith("-")) or _batch(rest)
            else None
        )
    if verb in _ALL and not (verb == "worktree" and "add" not in rest):
        return Shown("log", ("--all",))
    if verb == "show" and rest and all(":" in word for word in rest if not word.startswith("-")):
        return None  # files by their names
    if verb in _PICKS:
        return Shown() if {"-p", "--patch", "-v", "--verbose"} & set(rest) else None
    patch = any(_PATCH.fullmatch(word) for word in _before_paths(rest))
    shows = verb in _SHOWS and not any(_QUIET.fullmatch(word) for word in _before_paths(rest))
    if not (shows or (patch and verb in (*_SHOWS, *_PATCHES))) or "--no-index" in rest:
        return None
    return (
        _told("show" if verb == "show" else "diff" if verb in ("diff", "difftool") else "log", rest)
        if (plain and (verb in _SHOWS or verb == "log"))
        else Shown()
    )


def _brought(words: Sequence[str]) -> Shown | None:
    """What a command of git puts in the place of the working tree's files; None = nothing but what it names."""
    verb, rest = verb_of_git(words)
    names = _coming(verb, rest)
    if verb in _BRINGS:
        return Shown()
    if not names:
        return None
    return Shown("diff" if verb in _JOINERS | _MOVERS else "show", (), names)


def _coming(verb: str, rest: Sequence[str]) -> tuple[str, ...]:
    """The commits whose files such a command brings."""
    told = {after for before, after in pairwise(rest) if before in _SAYS}
    given = tuple(word for word in rest if (not word.startswith("-") or word == "-") and word not in told)
    if verb == "stash":
        return (given[1:] or ("stash",)) if given[:1] in (("pop",), ("apply",)) else ()
    if not _ONGOING.isdisjoint(rest):
        return ()
    if verb in _JOINERS:
        return tuple(f"HEAD...{name}" for name in given or ("@{upstream}",))
    if verb in _REPEATERS:
        return given
    return _moved_to(verb, rest, given) if verb in _MOVERS and "--" not in rest else ()


def _moved_to(verb: str, rest: Sequence[str], given: tuple[str, ...]) -> tuple[str, ...]:
    if verb == "reset":
        return () if _HARD.isdisjoint(rest) else given or ("HEAD",)
    names = given if _BRANCHES.isdisjoint(rest) else given[1:]
    return tuple("@{-1}" if name == "-" else name for name in names)


def _batch(rest: Sequence[str]) -> bool:
    return any(word.startswith("--batch") and word != "--batch-check" for word in rest)


def _before_paths(rest: Sequence[str]) -> Iterator[str]:
    for word in rest:
        if word == "--":
            return
        yield word


def _told(verb: str, rest: Sequence[str]) -> Shown:
    options, names = [], []
    words = iter(_before_paths(rest))
    for word in words:
        if word in ("-n", "--max-count"):
            if not (number := next(words, "")).isdigit():
                return Shown()
            options.append(f"-{number}")
        elif _WIDENS.fullmatch(word):
            options.append(word)
        elif word in _VALUED:
            next(words, None)
        elif not word.startswith("-"):
            names.append(word)
        elif word.startswith(
            (
                "--glob",
                "--stdin",
                "--pathspec-from-file",
                "--relative",
                "--exclude",
                "--bisect",
                "--submodule",
            )
        ):
            return Shown()
    behind = tuple(rest[rest.index("--") + 1 :]) if "--" in rest else ()
    if any(_MAGIC.search(word) for word in behind):
        behind = ()  # patterns of git's own: rather every file
    return Shown(verb, tuple(options), tuple(names), behind)
