"""The daemon of the project that an editor works in: asked, followed, and there when it is needed.

Owns: that a daemon that is not there is started, found again where it has moved, and followed through its restarts
without a gap.
Must not: read anything of a project but through the daemon's API.
Tests: tests/hub/acp/test_conversation.py
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

import attrs
import trio

from hub import __version__
from hub.api.events import EventRecord
from hub.api.health import Health
from hub.client.place import how_to_end
from hub.client.quick import ABSENT, Api, Query
from hub.domain.event import RecordJson
from hub.errors import Code, HubError

PAGE = 10_000
BEGIN = 130.0
"""Seconds that a session's beginning may take: uncommitted work comes along."""
END = 300.0
"""Seconds that its end may take: a snapshot, a last run of the acceptance commands."""
_BREATH = 0.5
_TRIES = 3
_MISUNDERSTOOD = frozenset({Code.INTERNAL, Code.INVALID, Code.NOT_FOUND})
"""What a daemon answers, or seems to, that does not know a question, or not all of its words."""

T = TypeVar("T")
Records = list[RecordJson]


async def _in_thread(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


@attrs.frozen
class ProjectDaemon:
    """One project's.

    Args:
        root: The project.
        find: Finds the daemon, anew for each request: it may have come or moved since the last one.
        begin: Starts one, and returns when it listens; raises what keeps it from that, `trust_needed` first.
    """

    root: Path
    find: Callable[[], Api]
    begin: Callable[[], None]
    _starting: trio.Lock = attrs.field(factory=trio.Lock)

    async def get(self, kind: type[T], path: str, query: Query | None = None) -> T:
        """A resource."""
        return await self._asked(lambda: self.find().read(kind, path, query))

    async def post(self, kind: type[T], path: str, body: object, timeout: float = BEGIN) -> T:
        """What a POST made or changed."""
        return await self._asked(lambda: self.find().within(timeout).order(kind, path, body))

    async def _asked(self, work: Callable[[], T]) -> T:
        try:
            return await _in_thread(work)
        except HubError as error:
            raise await _in_thread(partial(self._explained, error)) from error

    def _explained(self, error: HubError) -> HubError:
        """What a daemon of another version refuses it may refuse for that alone: that is said, with the way out."""
        if error.code not in _MISUNDERSTOOD:
            return error
        try:
            theirs = str(self.find().get("/api/health")["version"])
        except (HubError, LookupError, TypeError):
            return error
        if theirs == __version__:
            return error
        return HubError(
            error.code,
            f"The project's daemon is hub {theirs}, and this is hub {__version__}: they do not understand each other "
            f"here ({error.detail.rstrip('.')}).",
            hint=f"{how_to_end(self.root)}   Then say it again: this hub starts its own. "
            "What was done is on the sessions' branches.",
            **error.extra,
        )

    async def insist(self, kind: type[T], path: str, body: object) -> T:
        """A POST that may be given again: the daemon may go in the middle of it, and is started again."""
        for _ in range(_TRIES - 1):
            try:
                return await self.post(kind, path, body)
            except HubError as error:
                if error.code not in ABSENT:
                    raise
            await self.ensure()
        return await self.post(kind, path, body)

    async def runs(self) -> bool:
        """Whether it is there."""
        try:
            await self.get(Health, "/api/health")
        except HubError as error:
            if error.code in ABSENT:
                return False
            raise
        return True

    async def ensure(self) -> None:
        """Start it where it is not there."""
        async with self._starting:
            if not await self.runs():
                await _in_thread(self.begin)

    async def newest(self) -> int:
        """The id of the newest event; 0 = there is none."""
        found = await self.get(list[EventRecord], "/api/events", {"newest": 1, "limit": 1})
        return found[-1].id if found else 0

    async def page(self, session_id: str, since: int) -> Records:
        """The events of a session after an id, oldest first; not all of them at once."""
        query: Query = {"sessionId": session_id, "since": since, "limit": PAGE}
        found: Records = await self._asked(lambda: self.find().get("/api/events", query))
        return found

    async def follow(
        self, since: int, take: Callable[[Records], Awaitable[None]], wanted: Callable[[], bool]
    ) -> NoReturn:
        """Give all events after an id to `take`, each once, for ever.

        Args:
            since: The id.
            take: Takes a batch; the next is read when it returns.
            wanted: Whether somebody waits for what comes: then a daemon that has gone is started again.

        Raises:
            HubError: The daemon refuses to be followed, or cannot be started.
        """
        from hub.client.live import follow  # noqa: PLC0415  # an editor waits for the first answer, not for this

        last = since
        while True:
            try:
                async with follow(self.find(), last, patience=0) as batches:
                    async for batch in batches:
                        await take(batch)
                        last = batch[-1]["id"]
            except HubError as error:
                if error.code not in ABSENT:
                    raise
            await trio.sleep(_BREATH)
            if wanted():
                await self.ensure()
