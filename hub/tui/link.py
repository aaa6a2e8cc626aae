"""The live events in a worker thread: Trio's client there, Textual's loop here.

Owns: the thread, finding the daemon again wherever its next one listens, and the number of the last event: nothing is
lost and nothing doubled, whoever was gone meanwhile.
Must not: keep events, or draw.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from hub.client.quick import Api
from hub.domain.event import RecordJson
from hub.errors import Code, HubError

if TYPE_CHECKING:
    import trio


TAIL = 2000
"""Events of before that are asked for at the beginning."""
_FIRST, _LONGEST = 0.2, 2.0
"""Seconds until the next look for a daemon that is away."""


class LinkStanding(StrEnum):
    """How it stands with the daemon."""

    LOOKING = "looking"
    """It was not there yet."""
    UP = "up"
    AWAY = "away"
    """It was there, and is not."""
    REFUSED = "refused"
    """It is there, and will not have us."""


class Link:
    """Follows the event log until it is closed.

    Args:
        find: Where the daemon is; asked before each connection.
        deliver: Takes each batch of records, in the thread: it must return at once.
        tell: Told how it stands, in the thread, with the error where there is one.
    """

    def __init__(
        self,
        find: Callable[[], Api],
        deliver: Callable[[list[RecordJson]], None],
        tell: Callable[[LinkStanding, HubError | None], None],
    ) -> None:
        self._find = find
        self._deliver = deliver
        self._tell = tell
        self._thread = threading.Thread(target=self._run, daemon=True, name="hub-live")
        self._token: trio.lowlevel.TrioToken | None = None
        self._cancel: Callable[[], None] = lambda: None
        self._closed = False
        self.last: int | None = None
        """The newest event that was delivered; None = nothing was asked for yet."""

    def open(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self, patience: float = 2.0) -> None:
        """End, and wait for it a little."""
        self._closed = True
        if self._token is not None:
            import trio

            try:
                self._token.run_sync_soon(self._cancel)
            except trio.RunFinishedError:
                return
        if self._thread.is_alive():
            self._thread.join(patience)

    def _run(self) -> None:
        import trio

        trio.run(self._main)

    async def _main(self) -> None:
        import trio

        with trio.CancelScope() as scope:
            self._token, self._cancel = trio.lowlevel.current_trio_token(), scope.cancel
            if self._closed:
                return
            await self._follow_for_ever()

    async def _follow_for_ever(self) -> None:
        import trio

        delay, standing = _FIRST, LinkStanding.LOOKING
        while True:
            began = self.last
            try:
                await self._follow()
            except HubError as error:
                away = error.code in (Code.DAEMON_NOT_RUNNING, Code.TIMEOUT, Code.UNAVAILABLE)
                if away and (self.last is not None or standing is LinkStanding.AWAY):
                    standing = LinkStanding.AWAY
                else:
                    standing = LinkStanding.LOOKING if away else LinkStanding.REFUSED
                self._tell(standing, error)
            delay = _FIRST if self.last != began else min(delay * 2, _LONGEST)
            await trio.sleep(delay)

    async def _follow(self) -> None:
        import trio

        from hub.client.live import LinkState as Connection
        from hub.client.live import follow

        def connected(now: Connection) -> None:
            if now is Connection.UP:
                self._tell(LinkStanding.UP, None)

        api = await trio.to_thread.run_sync(self._find)
        if self.last is None:
            newest = await trio.to_thread.run_sync(api.get, "/api/events", {"limit": TAIL, "newest": 1})
            self.last = newest[-1]["id"] if newest else 0
            if newest:
                self._deliver(newest)
        async with follow(api, self.last, patience=0, notify=connected) as batches:
            async for batch in batches:
                self._deliver(batch)
                self.last = batch[-1]["id"]
