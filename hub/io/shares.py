"""Work that is shared out among processes of this machine's processors.

Owns: the processes, who takes what, and that all of it was done.
Must not: know what the work is, or be used where threads run: a fork has none of them, and what they hold it holds for
ever.

Nothing is sent to a process, which has all there is from its birth; it takes the next part when it is done with one, so
a processor that others use as well takes less.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_PARTS = 256
"""As many as a byte can name; and so many bytes any pipe holds."""


class BrokenShareError(Exception):
    """A process did not come to its end, and what it took is lost."""


def processors(most: int) -> int:
    """How many of this machine's processors this process may use, `most` of them at most."""
    try:
        return min(most, len(os.sched_getaffinity(0)))
    except AttributeError:  # macOS
        return min(most, os.cpu_count() or 1)


def shared(
    work: Sequence[_T], act: Callable[[Iterator[_T]], None], told: Callable[[], bytes], processes: int
) -> list[bytes]:
    """Do the work in this process and in others, and tell what they have to say.

    Args:
        work: Each piece of it is taken once.
        act: Called once in each process with the pieces it takes, in no order.
        told: Called after it in the others: what they leave behind is gone with them but for this.
        processes: How many, this one included.

    Raises:
        BrokenShareError: Another process failed.
    """
    parts = min(_PARTS, len(work))
    taking, giving = os.pipe()
    os.write(giving, bytes(range(parts)))
    os.close(giving)

    def taken() -> Iterator[_T]:
        while part := os.read(taking, 1):
            yield from work[part[0] :: parts]

    others: list[tuple[int, int]] = []
    try:
        for _ in range(min(processes, parts) - 1):
            others.append(_other(lambda: act(taken()), told))  # noqa: PERF401  # those there are must be ended
        act(taken())
    finally:
        os.close(taking)
        ended = [_ended(*other) for other in others]
    answers = [one for one in ended if one is not None]
    if len(answers) < len(ended):
        raise BrokenShareError
    return answers


def _other(act: Callable[[], None], told: Callable[[], bytes]) -> tuple[int, int]:
    """A process, and where its answer is read."""
    answer, telling = os.pipe()
    process = os.fork()
    if process:
        os.close(telling)
        return process, answer
    status = 1
    try:
        with os.fdopen(telling, "wb") as file:
            act()
            file.write(told())
        status = 0
    finally:
        os._exit(status)


def _ended(process: int, answer: int) -> bytes | None:
    """All it answered; None where it failed."""
    with os.fdopen(answer, "rb") as file:
        found = file.read()
    return None if os.waitpid(process, 0)[1] else found
