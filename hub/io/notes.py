"""What a look at the machine asks, noted down while it looks.

Owns: the notes, the files of the stores as they are read with notes, and the judgement whether a look may be kept.
Must not: change what is read, or ask what the look has not asked.

A look may be kept only where asking again would show every change. So it may not where something was read that was
written less than a tick of a file system's clock before the look began, or during it: what is written next may have the
same stamp. Nor where a store was not searched, or a session not read, to its end for want of time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hub.domain.detection.intel import Found, Limits, Place, Unreadable
from hub.io.questions import stamp_of, written
from hub.io.stores import Source, StoreFiles

if TYPE_CHECKING:
    from hub.io.questions import Answer, Question
    from hub.io.stores.sqlite import Database

_TICK_NS = 100_000_000
"""More than any local file system's clock is coarse."""
_MTIME = 3
_BESIDE = ("-wal", "-journal")


class Notes:
    """The questions of one look, and their answers.

    Args:
        since_ns: Where its window begins.
        began_ns: When the look began; None = it begins.
    """

    def __init__(self, since_ns: int, began_ns: int | None = None) -> None:
        self.since_ns = since_ns
        self.began_ns = time.time_ns() if began_ns is None else began_ns
        self._told: dict[Question, Answer] = {}
        self._spoilt = False
        self._heard: list[tuple[Question, Answer]] = []

    @contextlib.contextmanager
    def heard(self) -> Iterator[list[tuple[Question, Answer]]]:
        """What is noted meanwhile, also where it was noted before."""
        self._heard = []
        yield self._heard
        self._heard = []

    def note(self, question: Question, answer: Answer) -> None:
        """A question was answered like this; a second answer that is another makes the look worth nothing."""
        self._heard.append((question, answer))
        if self._told.setdefault(question, answer) != answer:
            self.spoil()

    def spoil(self) -> None:
        """The look is not to be kept."""
        self._spoilt = True

    def all(self) -> list[tuple[Question, Answer]] | None:
        """Every question with its answer; None where the look may not be kept."""
        if self._spoilt or any(written >= self.began_ns - _TICK_NS for written in self._written()):
            return None
        return list(self._told.items())

    def _written(self) -> Iterator[int]:
        """When each file that was read, or seen in a walk, was last written."""
        for question, answer in self._told.items():
            if question[0] in ("file", "log", "target") and answer is not None:
                yield answer[_MTIME]
            elif question[0] == "walk":
                yield from (written for _, written, _ in answer)


class NotedFiles(StoreFiles, kw_only=True):
    """The files of this machine, with notes of what was found and read."""

    notes: Notes

    def walk(self, place: Place, since_ns: int) -> Iterator[Found]:
        """As `StoreFiles.walk`, whole."""
        try:
            found = list(StoreFiles.walk(self, place, since_ns))
        except Unreadable:
            self.notes.spoil()
            raise
        window = None if since_ns == self.notes.since_ns else since_ns
        answer = sorted((one.path, one.mtime_ns, one.size) for one in found)
        self.notes.note(("walk", place.root, tuple(place.pattern), window), answer)
        return iter(found)

    @contextlib.contextmanager
    def open(self, root: str, path: str, limits: Limits) -> Iterator[Source]:
        """As `StoreFiles.open`."""
        with self._noted(path), StoreFiles.open(self, root, path, limits) as source:
            yield source

    @contextlib.contextmanager
    def database(self, root: str, path: str, limits: Limits) -> Iterator[Database]:
        """As `StoreFiles.database`."""
        for suffix in _BESIDE:
            self.notes.note(("log", path + suffix), written(stamp_of(path + suffix)))
        with self._noted(path), StoreFiles.database(self, root, path, limits) as database:
            self.notes.note(("there", f"{path}-shm"), stamp_of(f"{path}-shm") is not None)
            yield database

    @contextlib.contextmanager
    def _noted(self, path: str) -> Iterator[None]:
        stamp = stamp_of(path)
        self.notes.note(("file", path), stamp)
        try:
            yield
        except Unreadable:
            if stamp is not None:
                self.notes.spoil()
            raise
