"""How long an editor waits for `hub acp`: from the start of the process to its first answer, and its memory.

Peer: the protocol's official SDK with an agent that does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.bench.answers import first_answers
from tests.bench.table import Row, run

BARE = """
import asyncio
import acp
class Bare(acp.Agent):
    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **kwargs):
        return acp.InitializeResponse(protocol_version=1)
asyncio.run(acp.run_agent(Bare()))
"""
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Hub and the bare SDK, in turns."""
    return first_answers("acp", HELLO, BARE, folder, scale)


if __name__ == "__main__":
    run(rows)
