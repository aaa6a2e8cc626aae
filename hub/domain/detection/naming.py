"""Which script an interpreter runs, read out of its command line.

Owns: the names of interpreters, and which of their options take a value.
Must not: know any agent: it is asked of every process of the machine, so it is cheap.
"""

from __future__ import annotations

from collections.abc import Sequence

_INTERPRETERS = frozenset({"node", "nodejs", "bun", "deno"})
_NUMBERED = ("python", "pypy")
"""Interpreters whose version may be part of their name."""
_TAKES_VALUE = frozenset(
    {"-r", "--require", "--import", "--loader", "-C", "-X", "-W", "-c", "--config", "--cwd"}
)
"""Options, of interpreters and of agents, whose value is the next argument."""


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
