"""Ports of loopback that nobody answers on.

Owns: such a port, kept from all others for as long as it is needed.
Must not: listen.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unanswered() -> Iterator[int]:
    """A port that refuses whoever connects: bound, so that no other test's daemon is given it, and not listened on."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield int(kept.getsockname()[1])
