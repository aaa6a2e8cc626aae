"""What a command prints, told while it runs.

Owns: how often it is told, in whole lines, and how much of it is held.
Must not: know a command, or where it is told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

import attrs
import trio

from hub.domain.text.safe import decode
from hub.errors import HubError

_MOST = 256 * 1024
"""Bytes between two looks; of more than that the oldest are let go."""


@attrs.define
class LiveOutput:
    """Bytes as they come, and their lines as they are told.

    Attributes:
        say: Tells some whole lines. What it is given it is given once, also where its command is stopped meanwhile.
        pace: Seconds between two looks.
        more: What has come since the look before, where nobody calls `hold`.
    """

    say: Callable[[str], Awaitable[object]]
    pace: float
    more: Callable[[], bytes] = bytes
    _held: bytearray = attrs.field(factory=bytearray, init=False)

    def hold(self, data: bytes) -> None:
        """To be told with its line."""
        self._held += data
        del self._held[:-_MOST]

    async def follow(self) -> None:
        """For ever. A log that takes nothing now is no reason to stop a command."""
        while True:
            await trio.sleep(self.pace)
            self.hold(self.more())
            with contextlib.suppress(HubError):
                await self._tell(self._held.rfind(b"\n") + 1)

    async def finish(self) -> None:
        """Tell what is left, the last line also without its end."""
        self.hold(self.more())
        await self._tell(len(self._held))

    async def _tell(self, upto: int) -> None:
        lines = decode(bytes(self._held[:upto])).rstrip()
        del self._held[:upto]
        if lines.strip():
            with trio.CancelScope(shield=True):  # what is taken out of the buffer is told
                await self.say(lines)
