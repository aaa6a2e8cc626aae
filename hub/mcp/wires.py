"""Standard input and output, taken for the protocol.

Owns: that whatever is printed or read by anybody else in this process misses the client.
Must not: import anything that could print before the wires are claimed.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import attrs


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
