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
"""Bytes between two looks; of more than that the oldest lines are let go."""
_GONE = b"[...]\n"


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
    _broken: bool = attrs.field(default=False, init=False)
    """Whether the line that goes on was let go of."""

    def hold(self, data: bytes) -> None:
        """To be told with its line. Of a line without its beginning nobody could tell what in it is secret."""
        if self._broken:
            _, end, data = data.partition(b"\n")
            self._broken = not end
        self._held += data
        if len(self._held) > _MOST:
            end_at = self._held.find(b"\n", len(self._held) - _MOST)
            self._broken = end_at < 0
            self._held[:] = _GONE + (b"" if self._broken else self._held[end_at + 1 :])

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
