"""The shape of every `store.py`: how the sessions that an agent itself keeps are found and read.

Owns: the port to the files (`Files`, `Source`, `Database`), the contract `Store`, and the three shapes a store has:
files of lines, files of one document, and a database.
Must not: open a file, or know any one agent.

Theory of operation. A provider's `store.py` says *where* its sessions lie, by patterns below a folder, and folds
what is in them into an `IntelDraft`. It opens nothing: `hub.io.stores` does, behind `Files`, with the guards a file needs
that anybody may have written. So a format is a function on bytes, and is tested as one. Rules:
 1. A reader never raises on any bytes. What it cannot read is counted and, above a bound, an alarm.
 2. Each record leaves one mark in the account.
 3. Nothing that is found in a store is a path to open, but for the files that the format itself names below its root.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import attrs

from hub.domain.detection.intel import FoundFile, Limits, Place, SessionIntel, StoreHit, Unreadable
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers import lines
from hub.providers.lines import RecordFold, Source

_LIST = Limits(seconds=1.0)
"""For the list of sessions in a database."""
MAX_DOCUMENT = 32 * 1024 * 1024
"""Bytes of the largest document that is read as one: JSON of this size takes a few hundred MB while it is read."""


class Database(Protocol):
    """An open SQLite database that nothing can be written to."""

    def select(
        self, table: str, columns: Sequence[str], tail: str = "", parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        """Rows of one table, in the order of the columns; NULL for a column it does not have.

        Args:
            table: A table. A view counts as missing: what it does is up to who wrote the file.
            columns: Names of columns.
            tail: What follows `FROM table`: conditions and order, over columns it is known to have.
            parameters: Values for the question marks in it.

        Raises:
            Unreadable: There is no such table, the file is damaged, or the time is up.
        """

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; empty when there is no such table."""


class Files(Protocol):
    """The files of this machine, guarded: see `hub.io.stores`."""

    def walk(self, place: Place, since_ns: int) -> Iterator[FoundFile]:
        """The regular files that fit the place and were written since then, in no order. Follows no link.

        Raises:
            Unreadable: The time is up. What was yielded before stays true.
        """

    def open(self, root: str, path: str, limits: Limits) -> AbstractContextManager[Source]:
        """A regular file below `root`.

        Raises:
            Unreadable: It is none, it lies elsewhere, or it cannot be opened.
        """

    def database(self, root: str, path: str, limits: Limits) -> AbstractContextManager[Database]:
        """A SQLite file below `root`.

        Raises:
            Unreadable: As `open`.
        """


class Store(Protocol):
    """An agent's own sessions. A folder's `store.py` has one instance of it, named `STORE`."""

    def locations(self, home: str, env: Mapping[str, str], folders: Sequence[str] = ()) -> Sequence[Place]:
        """Where sessions may lie.

        Args:
            home: The user's home directory.
            env: The environment: an agent's own variables may move its directory. It may be that of a process.
            folders: Folders that agents work in, for those which keep their sessions there.
        """

    def find(self, files: Files, place: Place, since_ns: int) -> Iterator[StoreHit]:
        """The sessions there that were written since then (epoch nanoseconds). Opens no file where a stat tells.

        Raises:
            Unreadable: The place could not be searched to its end.
        """

    def read(self, hit: StoreHit, files: Files, limits: Limits) -> SessionIntel:
        """What the session tells. Never raises: what went wrong is its alarm."""


Where = Callable[[str, Mapping[str, str], Sequence[str]], Sequence[Place]]
"""From what `Store.locations` is asked with to its answer."""
Name = Callable[[FoundFile], str | None]
"""From a file to the session it is of: "" where only its records tell, None for a file that is no session's."""


@attrs.frozen(kw_only=True)
class PlacedStore(ABC):
    """A store in one format."""

    name: str
    where: Where

    def locations(self, home: str, env: Mapping[str, str], folders: Sequence[str] = ()) -> Sequence[Place]:
        """Where sessions may lie."""
        return self.where(home, env, folders)

    def read(self, hit: StoreHit, files: Files, limits: Limits) -> SessionIntel:
        """What the session tells; when its reading could not go on, with the reason as its alarm."""
        draft = IntelDraft()
        draft.lifts = limits.whole
        try:
            self._tell(draft, hit, files, limits)
        except Unreadable as why:
            return attrs.evolve(draft.finish(hit), alarm=str(why), tokens_exact=False)
        return draft.finish(hit)

    @abstractmethod
    def _tell(self, draft: IntelDraft, hit: StoreHit, files: Files, limits: Limits) -> None:
        """Gives the draft what the session has."""


@attrs.frozen(kw_only=True)
class _FileStore(PlacedStore):
    """A store with one file for each session."""

    named: Name
    after: Callable[[StoreHit, IntelDraft, Files, Limits], None] = lambda *_: None
    """Reads what lies beside the session's file."""

    def find(self, files: Files, place: Place, since_ns: int) -> Iterator[StoreHit]:
        """One hit a file."""
        for found in files.walk(place, since_ns):
            session = self.named(found)
            if session is not None:
                yield StoreHit(
                    provider=self.name,
                    path=found.path,
                    session_id=session,
                    mtime_ns=found.mtime_ns,
                    root=place.root,
                    kind=place.kind,
                )


@attrs.frozen(kw_only=True)
class LineStore(_FileStore):
    """A store with one file of JSON lines for each session."""

    fold: Callable[[IntelDraft], RecordFold]

    def _tell(self, draft: IntelDraft, hit: StoreHit, files: Files, limits: Limits) -> None:
        """Head and tail, or all of it."""
        with files.open(hit.root, hit.path, limits) as source:
            lines.feed(source, limits, self.fold(draft))
        self.after(hit, draft, files, limits)


@attrs.frozen(kw_only=True)
class DocumentStore(_FileStore):
    """A store with one JSON document for each session."""

    fold: Callable[[Mapping[str, object], IntelDraft], None]

    def _tell(self, draft: IntelDraft, hit: StoreHit, files: Files, limits: Limits) -> None:
        """The whole document."""
        value = document(files, hit.root, hit.path, limits, draft)
        if value is None:
            draft.damaged()
            raise Unreadable(f"{hit.path} is no whole JSON document.")
        self.fold(value, draft)
        self.after(hit, draft, files, limits)


@attrs.frozen(kw_only=True)
class DatabaseStore(PlacedStore):
    """A store with all sessions in one SQLite database.

    The file's own time says nothing: what is new may be in the log beside it, so the sessions' own times tell.
    """

    listed: Callable[[Database, StoreHit, int], Iterable[StoreHit]]
    """The sessions written since then (epoch nanoseconds), each made of the hit of the database itself."""
    fold: Callable[[Database, StoreHit, IntelDraft], None]

    def find(self, files: Files, place: Place, since_ns: int) -> Iterator[StoreHit]:
        """One hit a session."""
        for found in files.walk(place, 0):
            whole = StoreHit(provider=self.name, path=found.path, root=place.root, kind=place.kind)
            with files.database(place.root, found.path, _LIST) as database:
                listed = list(self.listed(database, whole, since_ns))
            yield from listed

    def _tell(self, draft: IntelDraft, hit: StoreHit, files: Files, limits: Limits) -> None:
        """All of the session."""
        with files.database(hit.root, hit.path, limits) as database:
            self.fold(database, hit, draft)


@attrs.frozen
class KindStore:
    """A store whose format changed: each place says by which name here its sessions are read."""

    kinds: Mapping[str, Store]

    def locations(self, home: str, env: Mapping[str, str], folders: Sequence[str] = ()) -> Sequence[Place]:
        """Where sessions of any of the formats may lie."""
        return [
            attrs.evolve(place, kind=kind)
            for kind, store in self.kinds.items()
            for place in store.locations(home, env, folders)
        ]

    def find(self, files: Files, place: Place, since_ns: int) -> Iterator[StoreHit]:
        """As that format finds them."""
        return self.kinds[place.kind].find(files, place, since_ns)

    def read(self, hit: StoreHit, files: Files, limits: Limits) -> SessionIntel:
        """As that format is read."""
        return self.kinds[hit.kind].read(hit, files, limits)


def document(
    files: Files, root: str, path: str, limits: Limits, draft: IntelDraft | None = None
) -> Mapping[str, object] | None:
    """A file that is one JSON object; None when it is none. An array becomes the object `{"items": array}`.

    Where it is too large the draft, if one is given, has its bytes as skipped.

    Raises:
        Unreadable: It cannot be opened, or is too large to be read as one.
    """
    with files.open(root, path, limits) as source:
        if source.size > MAX_DOCUMENT:
            if draft is not None:
                draft.skipped(source.size)
            raise Unreadable(f"{path} is too large to be read: {source.size >> 20} MB.")
        return lines.whole(source.at(0, source.size))


def beside(files: Files, hit: StoreHit, path: str, limits: Limits) -> Mapping[str, object]:
    """A document that may lie beside a session, below the same root; an empty one where it does not."""
    with contextlib.suppress(Unreadable):
        return document(files, hit.root, path, limits) or {}
    return {}


def stem(path: str) -> str:
    """The file's name without its folder and its last suffix."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def parent(path: str, up: int = 1) -> str:
    """The name of the folder so many steps above the file."""
    parts = path.split("/")
    return parts[-1 - up] if len(parts) > up else ""
