"""Bringing the index of the code up to date.

Owns: one run at a time, its pace, that no secret in the code gets into the database, and what is told of it.
Must not: know a language, or write a row itself.

A run that is cut off loses nothing: what was taken is in, and the next run begins with what is not. At a session's
start nobody waits for it, so it works half of the time and leaves the other half to the agents' events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from hub.actors.clock import iso
from hub.errors import HubError
from hub.io.git.files import files as project_files
from hub.io.graph.facts import note, set_note
from hub.io.graph.store import GraphStore

if TYPE_CHECKING:
    from hub.io.graph.intake import Intake

SCANNED_AT = "scanned_at"
_TRUNCATED = "truncated"
_TELL_AFTER = 2.0
"""Seconds after which a run is long, and is told of; and then again each so many."""


class IndexState(StrEnum):
    """How the index of the code stands."""

    EMPTY = "empty"
    """The code was never scanned."""
    SCANNING = "scanning"
    READY = "ready"
    FAILED = "failed"
    """The last run did not come to its end; what it took is in."""


@attrs.define
class Indexer:
    """Runs scans of one project, one at a time.

    Attributes:
        eager: Somebody waits for the run under way: it takes all the time it needs.
        files: Taken in by the run under way, or the last one.
        bytes: Of those files.
    """

    root: Path
    clock: Callable[[], float]
    scrub: Callable[[str], str]
    """Hides what is secret in a file's text, line by line; called in a worker thread."""
    say: Callable[[str], Awaitable[None]]
    """Tells a line of progress in the event log."""
    eager: bool = False
    files: int = 0
    bytes: int = 0
    error: str = ""
    scanned_at: str = ""
    truncated: bool = False
    running: bool = False

    @property
    def state(self) -> IndexState:
        """How the index stands."""
        if self.running:
            return IndexState.SCANNING
        if self.error:
            return IndexState.FAILED
        return IndexState.READY if self.scanned_at else IndexState.EMPTY

    async def remember(self, store: GraphStore) -> None:
        """What the database tells of the last run."""
        if self.running:
            return
        self.scanned_at = await trio.to_thread.run_sync(store.read, note, SCANNED_AT)
        self.truncated = bool(await trio.to_thread.run_sync(store.read, note, _TRUNCATED))

    async def run(self, store: GraphStore) -> None:
        """One run, from its beginning to its end; an error that is the user's is kept, and told."""
        self.running, self.error, self.files, self.bytes = True, "", 0, 0
        begun = trio.current_time()
        try:
            await self._run(store, begun)
        except (HubError, OSError) as error:
            self.error = error.detail if isinstance(error, HubError) else str(error)
            await self.say(f"indexing the code failed: {self.error}")
        finally:
            self.running = False
        if not self.error and (self.eager or trio.current_time() - begun > _TELL_AFTER):
            rest = "; there is more code than is indexed" if self.truncated else ""
            await self.say(f"indexed the code: {self._progress()} new or changed{rest}")
        self.eager = False

    async def _run(self, store: GraphStore, begun: float) -> None:
        paths = await project_files(self.root)
        at = iso(self.clock())
        intake = await trio.to_thread.run_sync(_begin, store, self.root, paths, self.scrub, at)
        told, more = begun, True
        while more:
            started = trio.current_time()
            more = await trio.to_thread.run_sync(intake.batch)
            self.files, self.bytes, self.truncated = intake.files, intake.bytes, intake.full
            if trio.current_time() - told > _TELL_AFTER:
                told = trio.current_time()
                await self.say(f"indexing the code: {self._progress()} so far")
            if more and not self.eager:
                await trio.sleep(trio.current_time() - started)
        await trio.to_thread.run_sync(partial(store.write, _note_end, at, truncated=self.truncated))
        self.scanned_at = at

    def _progress(self) -> str:
        return f"{self.files:,} files, {self.bytes / 1e6:,.1f} MB"


def _begin(store: GraphStore, root: Path, paths: list[bytes], scrub: Callable[[str], str], at: str) -> Intake:
    from hub.io.graph.intake import Intake  # noqa: PLC0415  # with every language; a quiet daemon needs none

    return Intake(store, root, paths, scrub, at)


def _note_end(db: sqlite3.Connection, at: str, *, truncated: bool) -> None:
    set_note(db, SCANNED_AT, at)
    set_note(db, _TRUNCATED, "yes" if truncated else "")
