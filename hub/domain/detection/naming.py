"""What an agent's process is called: its executable, or the script that an interpreter runs.

Owns: reading the script out of a command line, and the comparison of both with what is known of an agent.
Must not: import anything: it is asked of every process of the machine, also by a look that imports next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERPRETERS = frozenset({"node", "nodejs", "bun", "deno"})
_NUMBERED = ("python", "pypy")
"""Interpreters whose version may be part of their name."""
_TAKES_VALUE = frozenset(
    {"-r", "--require", "--import", "--loader", "-C", "-X", "-W", "-c", "--config", "--cwd"}
)
"""Options, of interpreters and of agents, whose value is the next argument."""
EXECUTABLE, SCRIPT, NAME = "executable", "script", "name"
Looks = tuple[tuple[str, ...], tuple[str, ...], str, str]
"""Of an agent: ends of its executable's path, folders in a path, the name it is called by, and its title."""


def script_of(executable: str, argv: Sequence[str]) -> str:
    """What an interpreter runs, as it was told to: a path, or a module's name after `-m`; "" of anything else.

    A script may have written a name over its arguments: it is what is left of them.
    """
    if not _interprets(last_of(executable)):
        return ""
    if argv and not any(argv[1:]):
        return "" if "/" in argv[0] or _interprets(argv[0]) else argv[0]
    arguments = arguments_of(argv[1:], skip_all=True)
    return arguments[0] if arguments else ""


def named(executable: str, script: str, looks: Looks) -> str:
    """By what executable or script are the agent's, "" where they are not; for every process, so it is cheap."""
    ends, packages, program, title = looks
    if not script:
        return EXECUTABLE if _ends(executable, ends) or _within(executable, packages) else ""
    if _within(script, packages):
        return SCRIPT
    called = script == title or (program and last_of(script).partition(".")[0] == program)
    return NAME if called else ""


def arguments_of(argv: Sequence[str], *, skip_all: bool = False) -> list[str]:
    """What follows the leading options; with `skip_all` a module's name counts as what follows."""
    rest = list(argv)
    while rest and rest[0].startswith("-"):
        if skip_all and rest[0] == "-m":
            return rest[1:]
        rest = rest[2:] if rest[0] in _TAKES_VALUE else rest[1:]
    return rest


def last_of(path: str) -> str:
    """The last step of a path."""
    return path.rpartition("/")[2]


def _interprets(name: str) -> bool:
    if name in _INTERPRETERS:
        return True
    return any(name.startswith(one) and not name[len(one) :].strip("0123456789.") for one in _NUMBERED)


def _ends(path: str, ends: Sequence[str]) -> bool:
    return any(path == end or path.endswith(f"/{end}") for end in ends)


def _within(path: str, packages: Sequence[str]) -> bool:
    return any(f"/{package}/" in path for package in packages)
