"""HTTP requests to model servers, whose answers are read while they arrive.

Owns: one request a connection, its time limits, and the bound on what is read.
Must not: follow a redirect, use a proxy, keep a connection, send a login in the clear over a network, or know what the
bytes mean.

A pull takes an hour and is cancelled at any moment, which a client in a thread (`hub.io.http.request`) is not made for
(design/decisions/0025-a-small-client-for-model-servers.md).
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import attrs
import h11
import msgspec
import trio

from hub.domain.text.safe import clean, clip
from hub.errors import Code, HubError

CONNECT_TIMEOUT = 10.0
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_LINE = 1 << 20
_CHUNK = 65_536
_OK = 200


@attrs.frozen
class UrlPlace:
    """Where a URL leads."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """For messages: the URL without its path."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


_PORTS = {"http": 80, "https": 443}


def place_of(url: str) -> UrlPlace:
    """Take a URL apart.

    Raises:
        HubError: INVALID; it is no http or https URL, or carries a login.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except (ValueError, UnicodeError):
        host, port, parts = "", 0, urlsplit("")
    target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    if not host or not port or parts.username is not None or not _visible(target):
        raise HubError(Code.INVALID, f"{clip(url, 100)!r} is no http or https URL without a login in it.")
    return UrlPlace(parts.scheme, host, port, target)


def _visible(target: str) -> bool:
    return target.isascii() and all("!" <= char <= "~" for char in target)


@attrs.define
class Response:
    """An answer whose body is still to be read.

    No generators: one that is not read to its end, as in a pull that is cancelled, would be left to the collector.
    """

    status: int
    _connection: h11.Connection
    _stream: trio.abc.Stream
    _origin: str
    _over: bool = False
    _rest: bytes = b""
    _lines: list[bytes] = attrs.field(factory=list)

    async def part(self) -> bytes:
        """What arrives next; b"" at the end.

        Raises:
            HubError: UPSTREAM_FAILED; the connection broke.
        """
        while not self._over:
            event = await _next(self._connection, self._stream, self._origin)
            if isinstance(event, h11.Data):
                return bytes(event.data)
            self._over = isinstance(event, h11.EndOfMessage)
        return b""

    async def read(self, limit: int) -> bytes:
        """The whole body.

        Raises:
            HubError: UPSTREAM_FAILED; it is longer than `limit`, or the connection broke.
        """
        body = b""
        while part := await self.part():
            body += part
            if len(body) > limit:
                raise failed(self._origin, f"answered more than {limit} bytes")
        return body

    async def line(self) -> bytes:
        """The next line without its end; empty ones are passed over; b"" after the last.

        Raises:
            HubError: UPSTREAM_FAILED; a line is longer than `MAX_LINE`, or the connection broke.
        """
        while not self._lines and not self._over:
            part = await self.part()
            *whole, rest = (self._rest + (part or b"\n")).split(b"\n")
            if len(rest) > MAX_LINE:
                raise failed(self._origin, f"sent a line of more than {MAX_LINE} bytes")
            self._lines, self._rest = [line for line in map(bytes.strip, whole) if line], rest
        return self._lines.pop(0) if self._lines else b""


@asynccontextmanager
async def exchange(
    method: str,
    url: str,
    *,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
) -> AsyncIterator[Response]:
    """Send one request; the block has its answer, and the connection ends with it.

    Args:
        method: GET or POST.
        url: http or https.
        body: Sent as JSON.
        headers: More of them.
        timeout: Seconds until the answer begins; reading its body has no limit of its own.

    Raises:
        HubError: INVALID for the URL, or a key that would go in the clear; UPSTREAM_FAILED when nobody answers.
    """
    place = place_of(url)
    if "Authorization" in (headers or {}) and place.scheme != "https" and place.host not in LOOPBACK:
        raise HubError(
            Code.INVALID, f"A key goes over https, or nowhere: {place.origin} is neither that nor here."
        )
    data = b"" if body is None else msgspec.json.encode(body)
    stream = await _connect(place)
    async with stream:
        connection = h11.Connection(h11.CLIENT)
        with _coded(place.origin):
            with trio.fail_after(timeout):
                await stream.send_all(_request(connection, place, method, data, headers or {}))
                event = await _next(connection, stream, place.origin)
                while isinstance(event, h11.InformationalResponse):
                    event = await _next(connection, stream, place.origin)
            assert isinstance(event, h11.Response)  # noqa: S101  # h11 gives no other event here
        yield Response(event.status_code, connection, stream, place.origin)


async def fetch(
    method: str,
    url: str,
    *,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
    limit: int = 4 << 20,
) -> Any:
    """The JSON that is answered with 200.

    Raises:
        HubError: INVALID for the URL; UPSTREAM_FAILED for every other end, with the server's own words.
    """
    origin = place_of(url).origin
    with _coded(origin), trio.fail_after(timeout):
        async with exchange(method, url, body=body, headers=headers, timeout=timeout) as answer:
            data = await answer.read(limit)
    if answer.status != _OK:
        raise failed(origin, f"answered {answer.status}: {words_of(data)}")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise failed(origin, "answered no JSON") from error


def words_of(data: bytes) -> str:
    """What a server says of an error: the `error` of its JSON, or that one's `message`, else the text."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = None
    if isinstance(found, dict):
        found = found.get("error", found)
    if isinstance(found, dict):
        found = found.get("message", found)
    words = found if isinstance(found, str) else data.decode("utf-8", "replace")
    return clip(" ".join(clean(words).split()), 300) or "nothing"


def failed(origin: str, what: str) -> HubError:
    """The error that a model server did not do as it should."""
    return HubError(Code.UPSTREAM_FAILED, f"{origin} {what}.")


def _request(
    connection: h11.Connection, place: UrlPlace, method: str, data: bytes, headers: Mapping[str, str]
) -> bytes:
    fields = {"Host": place.authority, "Accept": "application/json", "Connection": "close", **headers}
    if data:
        fields |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
    sent = connection.send(h11.Request(method=method, target=place.target, headers=list(fields.items())))
    body = connection.send(h11.Data(data=data)) if data else b""
    return (sent or b"") + (body or b"") + (connection.send(h11.EndOfMessage()) or b"")


async def _connect(place: UrlPlace) -> trio.abc.Stream:
    with _coded(place.origin), trio.fail_after(CONNECT_TIMEOUT):
        if place.scheme == "http":
            return await trio.open_tcp_stream(place.host, place.port)
        stream = await trio.open_ssl_over_tcp_stream(place.host, place.port, https_compatible=True)
        await stream.do_handshake()
        return stream


async def _next(connection: h11.Connection, stream: trio.abc.Stream, origin: str) -> object:
    with _coded(origin):
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some(_CHUNK)))
        return event


@contextmanager
def _coded(origin: str) -> Iterator[None]:
    """Turns what can go wrong on a connection into UPSTREAM_FAILED."""
    try:
        yield
    except trio.TooSlowError as error:
        raise failed(origin, "did not answer in time") from error
    except ssl.SSLError as error:
        raise failed(origin, f"cannot be trusted: {error.reason}") from error
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise failed(origin, f"cannot be reached: {why}") from error
    except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError) as error:
        raise failed(origin, "broke off, or does not speak HTTP") from error
