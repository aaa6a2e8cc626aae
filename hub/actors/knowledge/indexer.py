"""Bringing the index of the code up to date.

Owns: one run at a time, its pace, that whoever asks finds the code as it was then or later, that no secret in the code
gets into the database, and what is told of it.
Must not: know a language, or write a row itself.

A run that is cut off loses nothing: what was taken is in, and the next run begins with what is not. Who asks while a
run is under way may mean a file that it has passed: the run then goes over the project once more. At a session's
start nobody waits for it, so it works half of the time and leaves the other half to the agents' events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from hub.api.graph import IndexState
from hub.domain.wallclock import iso
from hub.errors import HubError
from hub.io.git.repository import project_files
from hub.io.graph.facts import note, set_note
from hub.io.graph.store import GraphStore

if TYPE_CHECKING:
    from hub.actors.common.secrets import HidingRules, Secrets
    from hub.io.graph.intake import Intake

SCANNED_AT = "scanned_at"
RULES = "rules"
"""The note that names the rules by which secrets were hidden in all that is in."""
_TRUNCATED = "truncated"
_TELL_AFTER = 2.0
"""Seconds after which a run is long, and is told of; and then again each so many."""


@attrs.define
class Indexer:
    """Runs scans of one project, one at a time.

    Attributes:
        wanted: Somebody has asked since the pass under way began.
        eager: Somebody waits for the run under way: it takes all the time it needs.
        files: Taken in by the run under way, or the last one.
        bytes: Of those files.
    """

    root: Path
    clock: Callable[[], float]
    secrets: Secrets
    """Keeps them out of the index."""
    say: Callable[[str], Awaitable[None]]
    """Tells a line of progress in the event log."""
    wanted: bool = False
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

    def ask(self, *, eager: bool = False) -> bool:
        """The code as it is by now is to be indexed; whether the caller has to start a run for it."""
        begins = not self.running
        self.wanted = self.running = True
        self.eager = self.eager or eager
        return begins

    async def run(self, store: GraphStore) -> None:
        """Passes over the project until nobody has asked for another; an error that is the user's is kept, and told."""
        self.files = self.bytes = 0
        begun = trio.current_time()
        while self.wanted:
            self.wanted, self.error = False, ""
            try:
                await self._pass(store, begun)
            except (HubError, OSError) as error:
                self.error = error.detail if isinstance(error, HubError) else str(error)
                await self.say(f"indexing the code failed: {self.error}")
        # From here on the next run may begin: nothing of this one's is left to be set after an await.
        is_told = not self.error and (self.eager or trio.current_time() - begun > _TELL_AFTER)
        self.running = self.eager = False
        if is_told:
            rest = "; there is more code than is indexed" if self.truncated else ""
            await self.say(f"indexed the code: {self._progress()} new or changed{rest}")

    async def _pass(self, store: GraphStore, begun: float) -> None:
        files, size = self.files, self.bytes
        paths = await project_files(self.root)
        at = iso(self.clock())
        await self.secrets.arm()
        rules = self.secrets.rules()
        intake = await trio.to_thread.run_sync(_begin, self.root, rules, store, paths, at)
        told, more = begun, True
        while more:
            started = trio.current_time()
            more = await trio.to_thread.run_sync(intake.batch)
            self.files, self.bytes, self.truncated = files + intake.files, size + intake.bytes, intake.full
            if trio.current_time() - told > _TELL_AFTER:
                told = trio.current_time()
                await self.say(f"indexing the code: {self._progress()} so far")
            if more and not self.eager:
                await trio.sleep(trio.current_time() - started)
        end = partial(_note_end, at=at, rules=rules.name, truncated=self.truncated)
        await trio.to_thread.run_sync(store.write, end)
        self.scanned_at = at

    def _progress(self) -> str:
        return f"{self.files:,} files, {self.bytes / 1e6:,.1f} MB"


def _begin(root: Path, rules: HidingRules, store: GraphStore, paths: list[bytes], at: str) -> Intake:
    """What was read by other rules is read again."""
    from hub.io.graph.intake import Intake  # noqa: PLC0415  # with every language; a quiet daemon needs none

    anew = store.read(note, RULES) != rules.name
    return Intake(store, root, paths, rules.hide, at, anew=anew)


def _note_end(db: sqlite3.Connection, *, at: str, rules: str, truncated: bool) -> None:
    set_note(db, SCANNED_AT, at)
    set_note(db, RULES, rules)
    set_note(db, _TRUNCATED, "yes" if truncated else "")
