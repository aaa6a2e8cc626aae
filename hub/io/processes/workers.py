"""Work that is shared out among processes of this machine's processors.

Owns: the processes, who takes what, what they are asked, and that all of it was done.
Must not: know what the work is, or be used where threads run: a fork has none of them, and what they hold it holds for
ever.

Nothing is sent to a process to work on: it has all there is from its birth, and takes the next part when it is done with
one, so a processor that others use as well takes less. Who made the processes is free meanwhile.
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
_SIZE = 8
"""Bytes before a message that tell its length."""


class BrokenShareError(Exception):
    """A process did not come to its end, and what it took is lost."""


def processors(most: int) -> int:
    """How many of this machine's processors this process may use, `most` of them at most."""
    return min(most, len(os.sched_getaffinity(0)))


class Crew:
    """Processes that have begun to work. To be used as a context, or closed: none of them is left behind.

    Args:
        work: Each piece of it is taken once.
        act: Called once in each process with the pieces it takes, in no order.
        answer: Called there after it, for each question: what a process has found is gone with it but for this.
        processes: How many; fewer for less work, none for none.
    """

    def __init__(
        self,
        work: Sequence[_T],
        act: Callable[[Iterator[_T]], None],
        answer: Callable[[bytes], bytes],
        processes: int,
    ) -> None:
        parts = min(_PARTS, len(work))
        taking, giving = os.pipe()
        os.write(giving, bytes(range(parts)))
        os.close(giving)

        def taken() -> Iterator[_T]:
            while part := os.read(taking, 1):
                yield from work[part[0] :: parts]

        self._others: list[tuple[int, int, int]] = []
        try:
            for _ in range(min(processes, parts)):
                self._others.append(
                    self._other(lambda: act(taken()), answer)
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
        for process, asking, hearing in self._others:
            os.close(asking)
            os.close(hearing)
            os.kill(process, signal.SIGKILL)
        for process, _, _ in self._others:
            os.waitpid(process, 0)
        self._others.clear()

    def ask(self, question: bytes) -> list[bytes]:
        """What each process says to this. Waits until all work is done.

        Raises:
            BrokenShareError: A process failed.
        """
        try:
            for _, asking, _ in self._others:
                _send(asking, question)
        except BrokenPipeError as error:
            raise BrokenShareError from error
        found = [_received(hearing) for _, _, hearing in self._others]
        answers = [one for one in found if one is not None]
        if len(answers) < len(found):
            raise BrokenShareError
        return answers

    def _other(self, act: Callable[[], None], answer: Callable[[bytes], bytes]) -> tuple[int, int, int]:
        """A process, where it is asked, and where it is heard."""
        asked, asking = os.pipe()
        hearing, telling = os.pipe()
        process = os.fork()
        if process:
            os.close(asked)
            os.close(telling)
            return process, asking, hearing
        status = 1
        gc.disable()  # what it makes stays to its end
        try:
            # Were it still open here, nobody would see it closed.
            for end in (asking, hearing, *(end for _, *ends in self._others for end in ends)):
                os.close(end)
            act()
            while (question := _received(asked)) is not None:
                _send(telling, answer(question))
            status = 0
        finally:
            os._exit(status)


def _send(to: int, message: bytes) -> None:
    data = memoryview(len(message).to_bytes(_SIZE, "little") + message)
    while data:
        data = data[os.write(to, data) :]


def _received(source: int) -> bytes | None:
    """The next message; None where there is no whole one."""
    size = _exactly(source, _SIZE)
    return None if size is None else _exactly(source, int.from_bytes(size, "little"))


def _exactly(source: int, count: int) -> bytes | None:
    found = bytearray()
    while len(found) < count and (data := os.read(source, count - len(found))):
        found += data
    return bytes(found) if len(found) == count else None
