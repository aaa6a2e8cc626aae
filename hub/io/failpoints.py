"""Named places in the durable path where a test may make the process fail.

Owns: the syntax of `HUB_FAILPOINTS` and what each action does to the process.
Must not: cost anything when nothing is armed, import anything of hub, or decide what a failure means.

`HUB_FAILPOINTS="fsm.SNAPSHOTTED.pre_rename=kill9;audit.append=enospc@3"`: at every hit of the name, or with
`@N` at its N-th hit only, the action is taken. The name `*` stands for every failpoint, counted together, so
that `*=kill9@7` is "die at the seventh durable step". Actions: `kill9`, `enospc`, `eio`, `erofs`, `emfile`,
`exit:<status>`; `sleep:<seconds>` and `wait:<FIFO>`, until a byte is there to read, which block the thread that hits it.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import time

import attrs

VARIABLE = "HUB_FAILPOINTS"

_ERRNO = {"enospc": errno.ENOSPC, "eio": errno.EIO, "erofs": errno.EROFS, "emfile": errno.EMFILE}
_SYNTAX = (
    r"(?P<name>\*|[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)"
    r"=(?P<action>kill9|enospc|eio|erofs|emfile|exit:\d{1,3}|sleep:\d+(?:\.\d+)?|wait:/[^;@]+)"
    r"(?:@(?P<nth>[1-9]\d*))?"
)


@attrs.define
class _Point:
    """One armed failpoint and how often it was hit."""

    action: str
    nth: int
    """0 = at every hit."""
    hits: int = 0


_armed: dict[str, list[_Point]] = {}


def arm(text: str) -> None:
    """Replaces what is armed by what `text` says.

    Raises:
        ValueError: An entry does not parse; a test that misspells its fault must not pass.
    """
    points: dict[str, list[_Point]] = {}
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        match = re.fullmatch(_SYNTAX, entry)
        if match is None:
            raise ValueError(f"{VARIABLE}: {entry!r} is not name=action or name=action@N")
        points.setdefault(match["name"], []).append(_Point(match["action"], int(match["nth"] or 0)))
    _armed.clear()
    _armed.update(points)


def hit(name: str) -> None:
    """Marks that the process is at the place `name`.

    Raises:
        OSError: A failpoint with an errno action is armed here.
    """
    if not _armed:
        return
    for point in (*_armed.get(name, ()), *_armed.get("*", ())):
        point.hits += 1
        if point.nth in (0, point.hits):
            _act(point.action, name)


def _act(action: str, name: str) -> None:
    kind, _, argument = action.partition(":")
    match kind:
        case "kill9":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(int(argument))
        case "sleep":
            time.sleep(float(argument))
        case "wait":
            with open(argument, "rb", buffering=0) as gate:
                gate.read(1)
        case _:
            number = _ERRNO[kind]
            raise OSError(number, f"{os.strerror(number)} (failpoint {name})")


arm(os.environ.get(VARIABLE, ""))
