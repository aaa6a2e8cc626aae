"""All that a client hears of a session over its live wires, byte for byte.

Owns: a WebSocket and an event stream that are followed while a session goes on, and the tool server asked both ways.
Must not: judge what was heard.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio
from wsproto.events import TextMessage

from tests.hub.mcp.kit import served
from tests.hub.web.wire import Socket, ask, request, socket
from tests.waiting import eventually

ASKED = ("hub_status", "hub_providers", "hub_diff", "hub_cost", "hub_list_profiles", "hub_events")


@attrs.define
class Heard:
    """What came over each wire so far."""

    socket: str = ""
    stream: bytes = b""

    async def all_until(self, last: int) -> None:
        """Waits until the record with this id has come over both."""
        await eventually(lambda: f'"id":{last},' in self.socket and b"id: %d\n" % last in self.stream)


@asynccontextmanager
async def listening(port: int) -> AsyncIterator[Heard]:
    """Follows the log over both live wires from now on."""
    heard = Heard()
    async with (
        trio.open_nursery() as nursery,
        socket(port) as client,
        await trio.open_tcp_stream("127.0.0.1", port) as stream,
    ):
        await stream.send_all(request("GET", "/api/events/stream", [("Host", f"127.0.0.1:{port}")]))
        heard.stream += await stream.receive_some()
        nursery.start_soon(_follow_socket, client, heard)
        nursery.start_soon(_follow_stream, stream, heard)
        yield heard
        nursery.cancel_scope.cancel()


async def _follow_socket(client: Socket, heard: Heard) -> None:
    while True:
        await client._feed()
        heard.socket += "".join(event.data for event in client.queue if isinstance(event, TextMessage))
        client.queue.clear()


async def _follow_stream(stream: trio.SocketStream, heard: Heard) -> None:
    while data := await stream.receive_some():
        heard.stream += data


def _calls(strangers: Iterable[str]) -> list[tuple[str, dict[str, object]]]:
    """Every tool that only looks, and calls that are refused for what is in them."""
    refused = [("hub_retrieve", {"q": value}) for value in strangers]
    refused += [("hub_events", {"since": value}) for value in strangers]
    refused += [(value, {}) for value in strangers]
    return [*((name, {}) for name in ASKED), *refused]


def over_stdio(where: Path, environ: dict[str, str], strangers: Iterable[str]) -> str:
    """What `hub mcp` answers; the log a page at a time, to its end."""
    answers: list[object] = []
    with served(where, environ) as client:
        client.hello()
        since = 0
        while True:
            page = client.call("hub_events", since=since)
            answers.append(page)
            told = page["structuredContent"]
            if not told["events"]:
                break
            since = told["next"]
        answers += [
            client.ask("tools/call", {"name": name, "arguments": given}) for name, given in _calls(strangers)
        ]
        client.process.stdin.close()
        said = client.process.stderr.read().decode()
    return json.dumps(answers, ensure_ascii=False) + said


async def over_http(port: int, strangers: Iterable[str]) -> str:
    """What `POST /mcp` answers."""
    accept = [("Accept", "application/json, text/event-stream")]
    bodies = []
    for number, (name, given) in enumerate(_calls(strangers)):
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": given},
        }
        bodies.append((await ask(port, "POST", "/mcp", message, headers=accept)).body.decode())
    return "\n".join(bodies)
