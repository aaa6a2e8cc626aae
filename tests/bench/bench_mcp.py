"""How long an agent waits for the tool server: from the start of the process to its first answer, and its memory.

Peer: the protocol's official SDK with a server that has no tools.

Of 140 ms of processor time (load 6 on 2 cores) Trio's import takes a third, attrs and Click a tenth each. Hub's own server on
that SDK took 770 to 800 ms in turns with it, and 69 MB instead of 27: the SDK builds the classes of every message of every
revision.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.bench.answers import first_answers
from tests.bench.table import Row, run

BARE = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def main():
    server = Server("bare")
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
anyio.run(main, backend="trio")
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Hub and the bare SDK, in turns."""
    return first_answers("mcp", HELLO, BARE, folder, scale)


if __name__ == "__main__":
    run(rows)
