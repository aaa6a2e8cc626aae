"""Standard input and output, taken for the protocol.

Owns: whole lines in, whole messages out; whatever anybody else in this process prints or reads misses the client.
Must not: import anything that could print before the wires are claimed.
Tests: tests/hub/mcp/test_stdio.py, tests/hub/acp/test_connection.py

Both are read and written in threads: making them non-blocking would change them for every process that shares them,
such as the user's terminal.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import attrs

from hub.wire.frames import MAX_FRAME

_CHUNK = 64 * 1024


@attrs.frozen
class Wires:
    """The client's side of standard input and output."""

    incoming: BinaryIO
    outgoing: int

    @classmethod
    def claim(cls) -> Wires:
        """Takes both for the protocol: from now on nobody reads stdin, and what is printed goes to stderr."""
        sys.stdout.flush()
        incoming, outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(os.fdopen(incoming, "rb", closefd=False), outgoing)

    def line(self, limit: int = MAX_FRAME) -> bytes:
        """The next line, which is waited for; of one that is too long, a part that is too long. b"" at the end."""
        line = self.incoming.readline(limit + 1)
        if len(line) > limit and not line.endswith(b"\n"):
            while (more := self.incoming.readline(_CHUNK)) and not more.endswith(b"\n"):
                pass
        return line

    def write(self, data: bytes) -> None:
        """Writes all of it, however long that takes.

        Raises:
            BrokenPipeError: The client has gone.
        """
        view = memoryview(data)
        while view:
            view = view[os.write(self.outgoing, view) :]
