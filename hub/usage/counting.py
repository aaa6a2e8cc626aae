"""Whole files of Claude Code's sessions, counted by processes of their own.

Owns: which files these are, which of them count, and what the processes have found together.
Must not: import more than counting takes: until the first process begins, all but one processor are idle. Nor be used
where threads run (see `hub.io.processes.workers`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Self

import attrs
import msgspec

from hub.io.files.confined import FileRefusedError, open_below, refused
from hub.io.files.walk import OutOfTime, tree
from hub.io.processes.workers import Crew, processors
from hub.providers.claude.totals import ClaudeTotals, Sum, Told, everywhere, merged

WALK = 60.0
"""Seconds for one place: whoever asks for everything can wait."""
_SECONDS = 10.0
"""For one file."""
_PIECE = 256 * 1024
"""Bytes that are read at once; a processor's own cache holds them."""
PROCESSES = 4
"""At most."""


@attrs.frozen
class File:
    """One to be counted."""

    root: str
    path: str
    size: int


@attrs.define
class _Answer:
    """What one process says: what it has counted, and why something may be missing."""

    told: Told
    gaps: list[str]


_answer = msgspec.msgpack.Decoder(_Answer).decode


AGENT = "claude"
"""Whose sessions hold copies of each other's answers: what all of them used takes every byte of every file."""


class Count:
    """The agent's files, being counted. To be used as a context.

    Attributes:
        gaps: Why something may be missing, in words.
    """

    def __init__(self) -> None:
        self.gaps: list[str] = []
        self._seen: set[tuple[int, int]] = set()
        self._crews: list[Crew] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for crew in self._crews:
            crew.close()

    def begin(self, home: str, envs: Iterable[Mapping[str, str]], since_ns: int) -> None:
        """Count what lies where these environments say; what has begun already is not counted again. Does not wait.

        Args:
            home: The user's home directory.
            envs: What says where agents keep their things.
            since_ns: Epoch nanoseconds; only files written since then, all of each.
        """
        files = [file for env in envs for file in self._new(home, env, since_ns)]
        files.sort(key=lambda file: -file.size)  # so that nobody has much left when the others are done
        counter = _Counter()
        self._crews.append(Crew(files, counter.count, processors(PROCESSES)))

    def sum(self) -> Sum:
        """What all of them tell. Waits until all are counted.

        Raises:
            BrokenShareError: A process failed.
        """
        answers = [_answer(one) for crew in self._crews for one in crew.told()]
        self.gaps += [gap for one in answers for gap in one.gaps]
        return merged(one.told for one in answers)

    def _new(self, home: str, env: Mapping[str, str], since_ns: int) -> Iterator[File]:
        for place in everywhere(home, env):
            try:
                below = (place.root, place.folder, place.suffix, place.depth)
                for path, known in tree(*below, since_ns=since_ns, seconds=WALK):
                    identity = (known.st_dev, known.st_ino)
                    if identity not in self._seen:
                        self._seen.add(identity)
                        yield File(place.root, path, known.st_size)
            except OutOfTime:
                self.gaps.append(f"{place.root} took too long to search.")


@contextmanager
def counting(home: str, env: Mapping[str, str], since_ns: int) -> Iterator[Count]:
    """A count, begun in the user's own environment. See `Count.begin`."""
    with Count() as count:
        count.begin(home, [env], since_ns)
        yield count


class _Counter:
    """One process, and all that it finds."""

    def __init__(self) -> None:
        self._totals = ClaudeTotals()

    def count(self, files: Iterable[File]) -> bytes:
        """All of these, as an `_Answer`."""
        gaps = []
        for file in files:
            try:
                self._read(file)
            except FileRefusedError as why:
                gaps.append(str(why))
            self._totals.end()
        return msgspec.msgpack.encode(_Answer(self._totals.told(), gaps))

    def _read(self, file: File) -> None:
        """As long as it was when it was opened: what is appended later is for the next count."""
        fd = open_below(file.root, file.path)
        until = time.monotonic() + _SECONDS
        try:
            size = os.fstat(fd).st_size
            for at in range(0, size, _PIECE):
                if time.monotonic() > until:
                    raise FileRefusedError(f"{file.path} took too long to read.")
                self._totals.feed(os.pread(fd, min(_PIECE, size - at), at))
        except OSError as error:
            raise refused(file.path, error) from error
        finally:
            os.close(fd)
