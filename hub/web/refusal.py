"""The answer to whom nothing is served, another user or one too many: the same bytes for whatever is asked.

Owns: these bytes, and the end of such a connection.
Must not: read what was sent; a request that is refused whatever it says need not be understood.
"""

from __future__ import annotations

from functools import cache

import trio

from hub.errors import Code, HubError
from hub.web.guard import SECURITY_HEADERS
from hub.web.problem import problem

PATIENCE = 3.0
"""Seconds such a connection may take."""
_FULL = "No more connections can be served now."
_PIECE = 2**16
_GONE = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


class RefusedConnection:
    """One such connection, from its first byte to its end. Never raises anything but `trio.Cancelled`."""

    waits = True
    served = False

    def __init__(self, stream: trio.SocketStream, *, foreign: bool = True) -> None:
        """`foreign`: whether it is refused as another user's; else there is no room for it."""
        self.foreign = foreign
        self._stream = stream
        self._scope = trio.CancelScope()

    def leave(self) -> None:
        """End, without an answer: somebody else needs the place."""
        self._scope.cancel()

    drain = abort = leave

    async def run(self) -> None:
        """Answers when something was sent, for some clients take an answer before that for none of theirs."""
        self._scope.deadline = trio.current_time() + PATIENCE
        try:
            with self._scope:
                if await self._stream.receive_some(_PIECE):
                    await self._stream.send_all(answer(Code.OTHER_USER if self.foreign else Code.UNAVAILABLE))
                    await self._stream.send_eof()
                    while await self._stream.receive_some(_PIECE):
                        pass  # closed before all of it has come, the answer could be lost
        except _GONE:
            pass
        finally:
            await trio.aclose_forcefully(self._stream)


@cache
def answer(code: Code) -> bytes:
    """403 or 503, as a whole response of HTTP/1.1."""
    reply = problem(HubError(code, "" if code is Code.OTHER_USER else _FULL))
    headers = [*reply.raw_headers(), (b"connection", b"close"), *SECURITY_HEADERS]
    head = b"".join(b"%s: %s\r\n" % pair for pair in headers)
    return b"HTTP/1.1 %d \r\n%s\r\n%s" % (reply.status, head, reply.body)
