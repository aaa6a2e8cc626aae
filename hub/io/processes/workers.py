"""Work that is shared out among processes of this machine's processors.

Owns: the processes, who takes what, and that all of it was done.
Must not: know what the work is, or be used where threads run: a fork has none of them, and what they hold it holds for
ever.

Nothing is sent to a process: it has all there is from its birth, and takes the next part when it is done with one, so a
processor that others use as well takes less. Who made the processes is free meanwhile. The standard library's pools start
threads, and their processes outlive a command that is killed.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar

_T = TypeVar("_T")

_PARTS = 256
"""As many as a byte can name; and so many bytes any pipe holds."""


class BrokenShareError(Exception):
    """A process did not come to its end, and what it took is lost."""


def processors(most: int) -> int:
    """How many of this machine's processors this process may use, `most` of them at most."""
    return min(most, len(os.sched_getaffinity(0)))


class Crew:
    """Processes that have begun to work. To be used as a context, or closed: none of them is left behind.

    Args:
        work: Each piece of it is taken once.
        act: Called once in each process with the pieces it takes, in no order; what it answers is all that is left of it.
        processes: How many; fewer for less work, none for none.
    """

    def __init__(self, work: Sequence[_T], act: Callable[[Iterator[_T]], bytes], processes: int) -> None:
        parts = min(_PARTS, len(work))
        taking, giving = os.pipe()
        os.write(giving, bytes(range(parts)))
        os.close(giving)

        def taken() -> Iterator[_T]:
            while part := os.read(taking, 1):
                yield from work[part[0] :: parts]

        self._others: list[tuple[int, int]] = []
        """Each process, and where it is heard."""
        try:
            for _ in range(min(processes, parts)):
                self._others.append(
                    self._other(lambda: act(taken()))
                )  # one by one: those there are must be ended
        except BaseException:
            self.close()
            raise
        finally:
            os.close(taking)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End them: nothing they still do is wanted."""
        for process, hearing in self._others:
            os.close(hearing)
            os.kill(process, signal.SIGKILL)
        for process, _ in self._others:
            os.waitpid(process, 0)
        self._others.clear()

    def told(self) -> list[bytes]:
        """What each process answers; once. Waits until all work is done.

        Raises:
            BrokenShareError: A process failed.
        """
        answers = []
        while self._others:
            process, hearing = self._others[0]
            with open(hearing, "rb", closefd=False) as pipe:
                answers.append(pipe.read())
            del self._others[0]
            os.close(hearing)
            if os.waitpid(process, 0)[1]:
                raise BrokenShareError
        return answers

    def _other(self, act: Callable[[], bytes]) -> tuple[int, int]:
        hearing, telling = os.pipe()
        process = os.fork()
        if process:
            os.close(telling)
            return process, hearing
        status = 1
        gc.disable()  # what it makes stays to its end
        try:
            # Were it still open here, whoever writes there would wait for a reader that is gone.
            for end in (hearing, *(end for _, end in self._others)):
                os.close(end)
            with open(telling, "wb") as pipe:
                pipe.write(act())
            status = 0
        finally:
            os._exit(status)
