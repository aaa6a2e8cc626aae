"""Ending processes that hub did not start, because the user has said so.

Owns: the order of that: ask, wait, then kill; and that nobody else is hit who has one of their numbers by now.
Must not: choose whom to end.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable

import trio

from hub.io.processes.control import Identity, identity_of, is_alive, send_signal
from hub.io.runner import proc

GRACE = 10.0
"""Seconds a program has to write down what it was doing."""
_KILLED = 5.0
_LOOK = 0.05


def with_all_below(heads: Iterable[Identity]) -> tuple[Identity, ...]:
    """Those processes that still run, and all that they have started."""
    found: dict[int, Identity] = {}
    for head in heads:
        if is_alive(head):
            found.setdefault(head.pid, head)
            for pid in (pid for pid, _ in proc.descendants(head.pid)):
                one = identity_of(pid)
                if one is not None:
                    found.setdefault(pid, one)
    return tuple(found.values())


async def end(processes: Iterable[Identity], grace: float = GRACE) -> bool:
    """End them: SIGTERM, then after `grace` seconds SIGKILL. Whether all of them are gone.

    Raises:
        PermissionError: One belongs to another user.
    """
    left = tuple(processes)
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, _KILLED)):
        for one in left:
            send_signal(one, number)
        with trio.move_on_after(patience):
            while any(map(is_alive, left)):  # noqa: ASYNC110  # not hub's children: nobody tells of their end
                await trio.sleep(_LOOK)
        left = tuple(filter(is_alive, left))
        if not left:
            break
    return not left
