"""A shell's command line: what it runs and which files it names, as far as that can be seen without running it.

Owns: the commands within a line's words, and every form in which a rule may mean one of them.
Must not: run anything, look at a file, or know a rule.

What only a running shell knows is not seen: variables, what a script does, a name that is put together. What is in doubt is
taken both ways: a word that holds a line of its own (`sh -c '...'`) is read as one, a program that runs another
(`env`, `xargs`, `sudo`) may run what any of its words begins, and options before a subcommand may not be there.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import attrs

from hub.domain.permission.cutting import ASSIGNED, cut
from hub.domain.permission.quoting import HOLE
from hub.domain.permission.shellword import holed, readings, substituted

_DEPTH = 4
_NESTED = re.compile(r"[\s;&|()`<>]")
_SIGN = re.compile(r"=|:(?=\S)")
_LETTERS = re.compile(r"-[A-Za-z]{1,4}")
_UNESCAPED = re.compile(r"\\([$`])")
"""What `"` keeps from the shell that reads the line, the next one reads."""
RUNNERS = frozenset(
    [
     "sudo", "doas", "su", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "timeout", "stdbuf",
     "setsid", "xargs", "parallel", "watch", "chroot", "unshare", "nsenter", "busybox", "toybox", "eval", "sh",
     "bash", "zsh", "dash", "ksh", "ash", "fish", "script", "strace", "ltrace", "unbuffer", "caffeinate", "npx",
     "uvx", "uv", "poetry", "pipenv", "ssh", "ssh-agent", "flock", "aws-vault", "bun", "bunx",
     "bwrap", "chrt", "dbus-run-session", "direnv", "dotenv", "entr", "fakeroot", "firejail", "gdb", "hyperfine",
     "mise", "nix", "nix-shell", "numactl", "pkexec", "pnpm", "prlimit", "proot", "proxychains",
     "proxychains4", "rtk", "runuser", "screen", "systemd-run", "time", "taskset", "tmux", "torify", "torsocks",
     "xvfb-run", "setarch", "linux32", "linux64", "i386", "x86_64", "catchsegv", "valgrind", "perf", "chronic",
     "rlwrap", "faketime", "eatmydata", "tsocks", "sshpass", "gosu", "su-exec", "tini", "dumb-init",
     "start-stop-daemon", "daemonize", "runcon", "capsh", "setpriv", "chpst", "softlimit", "envdir", "cpulimit",
     "machinectl", "hash", "sem", "yarn", "jobs", "trap", "repeat", "abduco", "adb", "alacritty", "arch", "argv0",
     "autossh", "bear", "ccache", "cgexec", "chokidar", "clush", "concurrently", "corepack", "cross-env", "dbus-launch",
     "devenv", "distcc", "dsh", "dtach", "dtruss", "envuidgid", "fakechroot", "foot", "gnome-session-inhibit",
     "heaptrack", "icecc", "ifne", "kcov", "kitty", "konsole", "lckdo", "libtool", "lima", "minijail0", "mosh",
     "nocache", "nodemon", "nvm", "parallel-ssh", "pdsh", "pgrphack", "pseudo", "pssh", "rargs", "reflex", "rr", "rsh",
     "run0", "rush", "rvm", "s6-setuidgid", "sandbox-exec", "sccache", "scan-build", "schedtool", "setlock",
     "setuidgid", "startx", "systemd-cat", "systemd-inhibit", "systemd-nspawn", "tcpserver", "tcpsvd", "udpsvd",
     "uftrace", "urxvt", "watchexec", "wsl", "x-terminal-emulator", "xcrun", "xinit", "xterm", "zrun",
     "alias", "compgen", "complete", "sg", "env-cmd", "envchain", "flatpak-spawn", "ghostty", "limactl", "logsave",
     "shx", "steam-run", "terminator", "wezterm", "xfce4-terminal", ".shell", ".system", ".sh", ".sys", "system"
    ]
)  # fmt: skip
"""Programs that run the program which one of their words names."""
_TARS = {"-I", "-F", *(f"--{name}" for name in ("to-command", "use-compress-program", "rmt-command", "rsh-command",
                                                "info-script", "new-volume-script"))}  # fmt: skip
_TAR_NAMES = frozenset("IF")
_TELLS = {
    "tar": _TARS,
    "gtar": _TARS,
    "bsdtar": _TARS,
    "compgen": {"-C"},
    "complete": {"-C"},
    "mapfile": {"-C"},
    "readarray": {"-C"},
    "cmake": {"-E"},
    "git": {"-O", "--open-files-in-pager", "-x", "--extcmd", "--exec", "--upload-pack", "--receive-pack"},
    "go": {"-exec", "-toolexec", "-vettool"},
    "make": {"SHELL"},
    "man": {"-P", "-H", "--html"},
    "nc": {"-e", "-c", "--exec", "--sh-exec"},
    "ncat": {"-e", "-c", "--exec", "--sh-exec"},
    "rg": {"--pre"},
    "rsync": {"-e", "--rsh", "--rsync-path"},
    "scp": {"-S"},
    "script": {"-c"},
    "sftp": {"-S"},
    "sort": {"--compress-program"},
    "split": {"--filter"},
    "tcpdump": {"-z"},
    "wget": {"--use-askpass"},
}
"""Options behind which a program names another that it runs, with words of its own."""
_NAMING = re.compile(
    r"-[-D](?=[\w.-]*(?:exec|command|cmd|prog|pager|editor|shell|wrapper|preview|filter|rsh|entrypoint|action))[\w.-]*"
)
"""Such an option of any program, as its name says."""
_COMMANDED = re.compile(r"(?i)(?:-\w{0,16}o)?\s*(\w*command)[\s=]+(.+)")
"""`ssh -o ProxyCommand=rm`, `ssh -o 'ProxyCommand rm x'`."""
_TOLD = 6
"""Words that a program named by an option may be given."""
MORE = "\N{HORIZONTAL ELLIPSIS}"
"""What a command is given besides."""
_RUNS = frozenset({"--", "exec", "run", "foreach", "ssh", "rsh", "shell"})
"""Words behind which any program may expect the name of another."""
FINDERS = frozenset({"find", "fd", "fdfind"})
FOR_EACH = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
"""The same of those."""
_BEGINS = {
    **dict.fromkeys(FINDERS, FOR_EACH),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _RUNS | {"create", "unshare", "ssh"}),
    "sg": frozenset(),
    "git": frozenset({"run", "foreach"}),
    "npm": frozenset({"exec", "x", "explore"}),
}
"""The same of programs that have words of their own for it; `docker rm x` runs no `rm`."""
_RUNS_ONE = {
    "command": re.compile(r"(?!-p?[vV]+(?:\s|$))"),
    "sg": re.compile(r"(?:-l? )?[^-\s]\S* (?:-c |[^-])"),
}
"""How the words of such a program begin where it runs another: `command -v rm` only looks, `sg -p x` is ast-grep."""
FEEDERS = frozenset({"xargs", "parallel"})
"""What they are told to read, nobody sees."""
_LOADER = re.compile(r"ld[\w.-]*\.so[\d.]*")
_CHANGES = frozenset({"cd", "pushd", "chdir"})
_PLACES = 64
"""Folders in which a command may run that are looked at."""
_SUBSTITUTED = 32
"""Substitutions in one line that are read; of more nobody says what they run."""
_SOUGHT = re.compile(r"\bCDPATH\b|\bcdable_vars\b|\bcdspell\b")
"""With these a shell goes to a folder that is not the one named."""
_NAME = re.compile(r"[\w./+-]*[A-Za-z][\w./+-]*")
"""What a program may be called."""
_SETTINGS = frozenset({"-c", "-o", "--config"})
_GLUED_SETTING = re.compile(r"(?:-c|--config=)([\w.-]+=.*)", re.DOTALL)
"""Options that give a setting: `git -c core.editor=rm`, `hg --config ui.editor=rm`."""
_SETTERS = frozenset({"export", "declare", "typeset", "readonly", "local", "env"})
SHELLS = frozenset(
    [
     "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "mksh", "yash", "rbash", "source", ".",
     "eval", "xargs", "parallel"
    ]
)  # fmt: skip
SAYERS = frozenset({"echo", "printf"})
"""What they say, a shell of the same line may run."""
LONGEST = 512
"""Words of a command that are looked at for what it runs; what has more, nobody can judge by rules."""
_OF_GIT = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"}
)
"""Options of git itself that a value follows."""
_GLUED = 2
"""Letters of a short option, behind which its value may stand."""
_LEAST = 4
"""Letters of a long option's beginning that no other option is likely to have."""
_GOES = frozenset({"-C", "--directory", "--cwd", "--chdir"})


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
        """The name of the program, without its folder; "" of a line that only redirects, all of one that only assigns."""
        first = self.words[0] if self.words else ""
        return first if ASSIGNED.match(first) else name_of(first)


def name_of(word: str) -> str:
    """A program's name, without its folder and the `=` with which zsh looks it up."""
    return posixpath.basename(word).lstrip("=")


@lru_cache(maxsize=8)
def commands(line: str) -> tuple[Command, ...]:
    """Every simple command of the line, those within words and substitutions too, by whichever way it is read."""
    sure = (each for each in doubtful(line) if HOLE not in "".join((*each.words, *each.files)))
    return tuple(dict.fromkeys((*_commands(line, ("",), _DEPTH, set()), *sure)))


@lru_cache(maxsize=8)
def doubtful(line: str) -> tuple[Command, ...]:
    """The same with `HOLE` for what only a running shell knows; a word is a line only where a shell reads it."""
    return tuple(_commands(line, ("",), _DEPTH, set(), doubt=True))


def run(line: str) -> Iterator[Command]:
    """Every command of the line, and each that one of its programs runs: `sudo tar c x` is `tar c x` too."""
    return (one for command in commands(line) for one in run_by(command))


def run_by(command: Command) -> Iterator[Command]:
    """The command, and each that its program runs."""
    for start in starts(command, fed=False):
        words = command.words[start:]
        yield attrs.evolve(command, words=(*in_git(words), *words[1:]))


def in_git(words: tuple[str, ...]) -> tuple[str, ...]:
    """A program's name; of one that is a part of git, with what git calls it: `git-push` is `git push`."""
    name = posixpath.basename(words[0])
    return ("git", name.removeprefix("git-")) if name.startswith("git-") else (words[0],)


def verb_of_git(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """What git is told to do, and the words behind it; `words` are those behind its name."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _OF_GIT else 1
    return (words[at], words[at + 1 :]) if at < len(words) else ("", ())


def _commands(
    line: str,
    folders: tuple[str, ...],
    depth: int,
    read: set[tuple[str, tuple[str, ...]]],
    *,
    doubt: bool = False,
) -> Iterator[Command]:
    if (line, folders) in read:
        return
    read.add((line, folders))
    begun, lost = folders, doubt and _SOUGHT.search(line) is not None
    taken = holed(line) if doubt else readings(line)
    for words, files, held in (each for reading in taken for each in cut(reading)):
        found = Command(tuple(words), tuple(files), (*folders, *_moved(words, folders)))
        yield found
        folders = _gone(found, folders, lost=lost)
        nested = _nested(found, held, doubt=doubt)
        if not depth and any(_NESTED.search(word) for word in nested):
            yield Command((HOLE,), (HOLE,), found.folders)  # lines within lines that nobody reads any more
        for word in nested:
            if depth and word != line and _NESTED.search(word):
                # `alias.x=!rm x`, `PAGER='rm x'`, `action=exec=rm x`: what stands behind a sign is a line too.
                parts = [part.lstrip("!+:") for part in _behind(word)]
                parts += [_UNESCAPED.sub(r"\1", part) for part in parts]
                for part in dict.fromkeys(parts):
                    yield from _commands(part, folders, depth - 1, read, doubt=doubt)
        told = (part for program in _told(found) for part in _behind(program))
        for program in (*told, *_set(found, held)) if depth else ():
            yield from _commands(f"{program} {MORE}", folders, depth - 1, read, doubt=doubt)
        for word in (*words, *files, *held) if doubt else ():
            # What is kept from this shell is for another, or for this one's own second look: `let 'a[$(x)]'`.
            yield from _substituted(word, folders, depth, read)
    yield from _substituted(line, begun, depth, read) if doubt else ()


def _nested(command: Command, held: Sequence[str], *, doubt: bool) -> tuple[str, ...]:
    """The words of a command, and its assignments `held`, that may be lines; in doubt those that are sure to be."""
    if doubt:
        return (*_read_by_others(command), *(word for word in command.words if "!" in word), *held)
    joined = (" ".join(command.words[1:]),) if command.program == "eval" else ()
    return (*command.words, *command.files, *held, *joined)


def _substituted(
    line: str, folders: tuple[str, ...], depth: int, read: set[tuple[str, tuple[str, ...]]]
) -> Iterator[Command]:
    """The commands whose output the line takes: `echo $($x)` runs what nobody knows, as `$x` does."""
    for number, (before, part) in enumerate(substituted(line)):
        if not depth or number == _SUBSTITUTED:
            yield Command((HOLE,), (HOLE,), folders)
            return
        yield from _commands(part, _reached(before, folders), depth - 1, read, doubt=True)


def _reached(before: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Where the line may be in the midst of a command, by the whole ones before it."""
    for words, files, _ in [*cut(holed(f"{before}x")[0])][:-1]:
        folders = _gone(Command(tuple(words), tuple(files), folders), folders, lost=False)
    return folders


def _gone(command: Command, folders: tuple[str, ...], *, lost: bool) -> tuple[str, ...]:
    """Where the line may be after a command: each `cd` may lead from each place, or fail.

    Args:
        command: The command.
        folders: Where the line may be before it.
        lost: Whether only a running shell knows where the names lead.
    """
    words = list(command.words[:1])
    if command.program in RUNNERS:
        words = [part for word in command.words for part in word.split()]
    at = next((place for place, word in enumerate(words) if word in _CHANGES), None)
    if at is None:
        return folders
    given = [word for word in (words[at + 1 :] or command.words[1:]) if not word.startswith("-")] or ["~"]
    if lost or len(folders) > _PLACES:
        return (*folders[:_PLACES], f"{folders[-1]}/{HOLE}")
    led = (posixpath.join(base, there) for base in folders for there in given)
    # A shell takes `..` as one name less, unless it is told to look behind links.
    plain = led if "-P" in command.words else map(posixpath.normpath, led)
    return tuple(dict.fromkeys((*folders, *plain)))


def _read_by_others(command: Command) -> tuple[str, ...]:
    """The words that another program than this may read as a line: `git bisect run sh -c '...'`."""
    begin = next((start for start in starts(command, fed=False) if start), len(command.words))
    behind = command.words[begin:]
    if _runs_others(command) or HOLE in command.program:
        return command.words
    if command.words[begin - 1 : begin] == ("--",) and not any(name_of(word) in RUNNERS for word in behind):
        return ()
    set_ = (word for option, word in pairwise(command.words) if option == "-c" and command.program == "git")
    return (*behind, *set_)


def _behind(word: str) -> Iterator[str]:
    """The word, and what stands behind an option's letters, its first `=`, or a `:` without a blank: `EXEC:rm x`."""
    yield word
    if letters := _LETTERS.match(word):
        yield from (word[at:] for at in range(_GLUED, letters.end() + 1))
    begins = [found.end() for found in _SIGN.finditer(word)]
    yield from (word[begin:] for begin in begins[:_DEPTH])


def _set(command: Command, held: Sequence[str]) -> Iterator[str]:
    """The values that a command finds set: `EDITOR=rm git commit`, `git -c core.editor=rm commit` run what they name."""
    set_ = [word for word in command.words if ASSIGNED.match(word)] if command.program in _SETTERS else []
    set_ += [word for option, word in pairwise(command.words) if option in _SETTINGS]
    set_ += [found[1] for word in command.words if (found := _GLUED_SETTING.fullmatch(word))]
    if command.program == "git":
        verb, rest = verb_of_git(command.words[1:])
        set_ += [f"={word}" for word in rest[-1:] if verb == "config"]
    for word in (*held, *set_) if command.words else ():
        value = word.partition("=")[2].lstrip("!")
        if _NAME.fullmatch(value):
            yield value
        elif "://" in value:
            yield shlex.quote(value)  # it may be one that is asked in the place of another


def _told(command: Command) -> Iterator[str]:
    """What an option names to be run: `rg --pre rm`, `tar -cIrm`, `sort --compress-program=rm`, `cmake -E rm -f x`."""
    program, words = command.program, command.words[1:LONGEST]
    options: Iterable[str] = _TELLS.get(program, ())
    letters = "".join(option[1] for option in options if len(option) == _GLUED)
    short = re.compile(rf"-[A-Za-z\d]*?[{letters}](.*)", re.DOTALL) if letters else None
    for place, option in enumerate(words):
        name, _, value = option.partition("=")
        given = words[place + 1 : place + _TOLD]
        if found := short.fullmatch(option) if short else None:
            value = found[1]
        elif not (
            _begins(name, options) or _NAMING.fullmatch(name) or (value := _commanded(program, option))
        ):
            continue
        if value or given:
            yield " ".join((value or given[0], shlex.join(given if value else given[1:]), MORE))
    if options is _TARS and words and not words[0].startswith("-") and not _TAR_NAMES.isdisjoint(words[0]):
        yield from words[1 : 1 + len(words[0])]


def _commanded(program: str, word: str) -> str:
    found = _COMMANDED.fullmatch(word) if program in ("ssh", "scp", "sftp") else None
    return found[2] if found else ""


def _begins(name: str, options: Iterable[str]) -> bool:
    """Whether a long option is one of these, or the beginning of one: most programs take that for the whole."""
    return name in options or (
        name.startswith("--") and len(name) > _LEAST and any(each.startswith(name) for each in options)
    )


def _moved(words: list[str], folders: tuple[str, ...]) -> Iterator[str]:
    """Where a command is told to go first: `git -C there`, `make --directory=there`; each from where the one before led."""
    here = folders[-1]
    for option, word in pairwise((*words, "")):
        name, found, there = option.partition("=")
        glued = option[_GLUED:] if option.startswith("-C") else ""
        if glued or (_begins(name, _GOES) and (found or word)):
            here = posixpath.join(here, glued or (there if found else word))
            yield here


def _runs_others(command: Command) -> bool:
    """Whether any of its words may be the program that it runs."""
    one = _RUNS_ONE.get(command.program)
    return command.program in RUNNERS and (
        one is None or one.match(" ".join(command.words[1:LONGEST])) is not None
    )


def starts(command: Command, *, fed: bool) -> Iterator[int]:
    """At which words a program may begin."""
    words, program = command.words[:LONGEST], command.program
    begins = _BEGINS.get(program, _RUNS)
    every = _runs_others(command) or _LOADER.fullmatch(program) is not None or (fed and program in SAYERS)
    behind = (
        0 if every else next((place for place, word in enumerate(words) if word in begins), len(words)) + 1
    )
    yield from (0,) if words and behind else ()
    yield from range(behind, len(words))
