"""The guard: who may talk to the daemon at all.

Owns: rules G2 to G11 on every HTTP request and WebSocket handshake, the token where one is set, and whether the
request is meant for this project; all before any of its body is read.
Must not: know a route, decode a body, or make an exception for one.

Unless a token is set, the API has no authentication but the kernel's word whose a connection is; who is let in may
start programs. What keeps web pages out is this file: a page can make this user's browser send almost any request to
loopback, but cannot choose the Host, Origin and Sec-Fetch-Site headers the browser writes. Comparisons are exact,
against small sets made from the bound port: no suffix, no pattern, no normalisation but lower case.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
import os
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import quote, unquote

import attrs
import trio

from hub.api.meta import MAX_BODY
from hub.errors import Code, HubError
from hub.web.callers import Caller
from hub.web.problem import WholeResponse, as_hub_error, problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_HEADERS = 16 * 1024
BODY_TIMEOUT = 10.0

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
UNIX = ("unix", 0)
"""The peer of a connection over the unix socket."""
CALLER = "hub.caller"
"""Where the scope's state has the `Caller`; it was asked when the connection was accepted."""
_BEARER = "bearer."
_WORD = rb"[!#$%&'*+.^_`|~0-9a-z-]+"
_JSON = re.compile(
    rb'application/json(?:\s*;\s*(?:charset=(?:utf-?8|"utf-?8")|(?!charset)%b=(?:%b|"[^"\\]*")))*\s*;?'
    % (_WORD, _WORD)
)
"""In lower case. JSON has one encoding; a reader that knew another would read another body."""
_BODY_METHODS = frozenset({"POST"})
"""Those that are served. What another one brings is not read: it is told that it is not served."""
_REFUSED_METHODS = frozenset({"TRACE", "CONNECT"})


@attrs.frozen
class Policy:
    """Whom the guard lets in, for one bound port."""

    hosts: frozenset[bytes]
    origins: frozenset[bytes]
    token: bytes = attrs.field(default=b"", repr=False)
    """What every request must carry; b"" = nothing."""
    project: bytes = b""
    """The project that is served, as `Hub-Project` names it; b"" = a request may name any."""
    bodies: re.Pattern[str] = re.compile("")
    """Paths whose POST needs a body; elsewhere one that has none needs no content type. An unknown path is not found."""

    @classmethod
    def for_port(
        cls, port: int, extra_origins: Iterable[str] = (), *, token: str = "", project: str = ""
    ) -> Policy:
        """Who may call a server on `port`: its three loopback names, and origins the owner chose."""
        names = [f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost", "[::1]")]
        own = {b"http://" + name for name in names}
        origins = frozenset(own | {origin.encode() for origin in extra_origins})
        return cls(frozenset(names), origins, token.encode(), quote(os.fsencode(project)).encode())


def check(policy: Policy, scope: Scope) -> HubError | None:
    """Why this request is refused, judged by its head alone; None when it may pass."""
    headers: list[tuple[bytes, bytes]] = list(scope["headers"])
    return (
        _check_peer(scope)
        or _check_caller(policy, scope, headers)
        or _check_size(scope, headers)
        or _check_framing(scope, headers)
        or _check_host(policy, _all(headers, b"host"))
        or _check_target(scope)
        or _check_origin(policy, _all(headers, b"origin"))
        or _check_fetch_site(_all(headers, b"sec-fetch-site"))
        or _check_token(policy, scope, headers)
        or _check_project(policy, _all(headers, b"hub-project"))
        or _check_method(policy, scope, headers)
    )


def _all(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


def _check_peer(scope: Scope) -> HubError | None:
    client = scope.get("client")
    if client == UNIX:
        return None
    if client and ipaddress.ip_address(client[0]).is_loopback:
        return None
    return HubError(Code.FOREIGN_ORIGIN, "Only programs on this machine are served.")


def _check_size(scope: Scope, headers: list[tuple[bytes, bytes]]) -> HubError | None:
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) + 4 for name, value in headers)
    return HubError(Code.HEADERS_TOO_LARGE) if size > MAX_HEADERS else None


def _check_framing(scope: Scope, headers: list[tuple[bytes, bytes]]) -> HubError | None:
    """A request has one end: where two rules say different ones, what comes after it could be anybody's request."""
    if not _all(headers, b"transfer-encoding"):
        return None
    if scope["http_version"] == "1.1" and not _all(headers, b"content-length"):
        return None
    return HubError(Code.MALFORMED, "The request states its length twice.", hint="Send a length, or chunks.")


def _check_host(policy: Policy, hosts: list[bytes]) -> HubError | None:
    if len(hosts) != 1:
        return HubError(Code.BAD_HOST)
    return None if hosts[0].lower() in policy.hosts else HubError(Code.MISDIRECTED)


def _check_target(scope: Scope) -> HubError | None:
    if scope["raw_path"].startswith(b"/") or scope.get("method") in _REFUSED_METHODS:
        return None
    return HubError(Code.MALFORMED, "The request target must begin with a slash.")


def _check_origin(policy: Policy, origins: list[bytes]) -> HubError | None:
    if not origins or (len(origins) == 1 and origins[0] in policy.origins):
        return None
    return HubError(Code.FOREIGN_ORIGIN)


def _check_fetch_site(sites: list[bytes]) -> HubError | None:
    # "same-site" fails on purpose: a page on another port of localhost is same-site with this one.
    if not sites or (len(sites) == 1 and sites[0] in (b"same-origin", b"none")):
        return None
    return HubError(Code.FOREIGN_ORIGIN)


def _check_caller(policy: Policy, scope: Scope, headers: list[tuple[bytes, bytes]]) -> HubError | None:
    """Another user's connection needs the token; so does one that may be anybody's."""
    who = scope["state"][CALLER]
    if who is Caller.OWN or _shows_token(policy.token, scope, headers):
        return None
    # Where the kernel does not tell there is a token, and this user's own programs may come without it too.
    return None if who is Caller.UNTOLD and policy.token else HubError(Code.OTHER_USER)


def _check_token(policy: Policy, scope: Scope, headers: list[tuple[bytes, bytes]]) -> HubError | None:
    if not policy.token or _shows_token(policy.token, scope, headers):
        return None
    return HubError(Code.TOKEN_NEEDED)


def _shows_token(token: bytes, scope: Scope, headers: list[tuple[bytes, bytes]]) -> bool:
    """A browser cannot set a header on a WebSocket: there a subprotocol `bearer.<base64url of the token>` does."""
    offered = [name for name in scope.get("subprotocols", ()) if name.startswith(_BEARER)]
    shown = [_credentials(value) for value in _all(headers, b"authorization")]
    shown += [_from_base64(name.removeprefix(_BEARER)) for name in offered]
    return bool(token) and len(shown) == 1 and hmac.compare_digest(shown[0], token)


def _credentials(value: bytes) -> bytes:
    """What is shown as a bearer; a scheme's name is the same in any case. b"" in another scheme."""
    scheme, _, shown = value.partition(b" ")
    return shown.lstrip(b" ") if scheme.lower() == b"bearer" else b""


def _from_base64(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""


def _check_project(policy: Policy, named: list[bytes]) -> HubError | None:
    if not policy.project or not named or named == [policy.project]:
        return None
    return HubError(
        Code.OTHER_PROJECT, f"The daemon here serves {unquote(policy.project.decode())}, another project."
    )


def _check_method(policy: Policy, scope: Scope, headers: list[tuple[bytes, bytes]]) -> HubError | None:
    if scope["type"] == "websocket":
        # Extended CONNECT (RFC 8441) needs a second implementation of everything above; no client of ours
        # uses it.
        return HubError(Code.METHOD_NOT_ALLOWED) if scope["http_version"] == "2" else None
    if scope["method"] in _REFUSED_METHODS:
        return HubError(Code.METHOD_NOT_ALLOWED)
    return _check_body_head(policy, scope, headers) if scope["method"] in _BODY_METHODS else None


def _check_body_head(policy: Policy, scope: Scope, headers: list[tuple[bytes, bytes]]) -> HubError | None:
    lengths = _all(headers, b"content-length")
    if not (_is_json(headers) or (_has_none(headers, lengths) and not policy.bodies.match(scope["path"]))):
        return HubError(Code.UNSUPPORTED_MEDIA_TYPE)
    # A length that lies low is caught when the bytes are counted.
    return HubError(Code.TOO_LARGE) if any(_beyond(length) for length in lengths) else None


def _is_json(headers: list[tuple[bytes, bytes]]) -> bool:
    types = _all(headers, b"content-type")
    plain = len(types) == 1 and not _all(headers, b"content-encoding")
    return plain and _JSON.fullmatch(types[0].strip().lower()) is not None


def _has_none(headers: list[tuple[bytes, bytes]], lengths: list[bytes]) -> bool:
    """Whether nothing is sent and nothing said of what is sent."""
    named = {name.lower() for name, _ in headers}
    return named.isdisjoint((b"content-type", b"content-encoding", b"transfer-encoding")) and (
        set(lengths) <= {b"0"}
    )


def _beyond(length: bytes) -> bool:
    return not length.isdigit() or len(length) > len(str(MAX_BODY)) or int(length) > MAX_BODY


async def respond(scope: Scope, send: Send, reply: WholeResponse) -> None:
    """Sends a whole response: to a request, or in place of a WebSocket."""
    prefix = "websocket.http" if scope["type"] == "websocket" else "http"
    headers = reply.raw_headers()
    await send({"type": f"{prefix}.response.start", "status": reply.status, "headers": headers})
    await send({"type": f"{prefix}.response.body", "body": reply.body, "more_body": False})


class Guard:
    """ASGI middleware that stands before everything.

    What passes has an allowed Host, Origin and method, a loopback peer, and a body that was read whole and
    is within bounds. Every response leaves with the security headers.
    """

    def __init__(self, app: App, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        answer = _Answer(send)
        try:
            await self._serve(scope, receive, answer.send)
        except Exception as error:  # noqa: BLE001  # the edge
            if not answer.begun:
                await respond(scope, answer.send, problem(as_hub_error(error)))
        except BaseException:  # a cancellation, by itself or in a group
            if not answer.begun:
                # The server goes down, and the client is owed a word; Hypercorn's would be an empty 500.
                with trio.move_on_after(_LAST_WORD, shield=True):
                    await respond(scope, answer.send, problem(HubError(Code.UNAVAILABLE, _GOING)))
            raise

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = check(self._policy, scope)
        if error is not None:
            await respond(scope, send, problem(error, headers=_more_headers(error)))
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _BODY_METHODS:
            await self._app(scope, _BodyOf(b"", receive), send)
            return
        try:
            body = await _read_body(receive)
        except HubError as error:
            await respond(scope, send, problem(error))
            return
        if body is not None:
            await self._app(scope, _BodyOf(body, receive), send)


def _more_headers(error: HubError) -> dict[str, str]:
    match error.code:
        case Code.METHOD_NOT_ALLOWED:
            return {"Allow": "GET, HEAD, POST"}
        case Code.TOKEN_NEEDED:
            return {"WWW-Authenticate": 'Bearer realm="hub"'}
        case Code.OTHER_USER | Code.MALFORMED:
            return {"Connection": "close"}
    return {}


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None when the client went away.

    Raises:
        HubError: `too_large` over 1 MiB, `malformed` when it does not arrive in time.
    """
    parts = bytearray()
    with trio.move_on_after(BODY_TIMEOUT):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            parts += message.get("body", b"")
            if len(parts) > MAX_BODY:
                raise HubError(Code.TOO_LARGE)
            if not message.get("more_body", False):
                return bytes(parts)
    raise HubError(Code.MALFORMED, f"The body did not arrive within {BODY_TIMEOUT:.0f} s.")


class _BodyOf:
    """A `receive` that gives a body at once, drops whatever else comes, and waits for the disconnect."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return message


class _Answer:
    """A `send` that puts the security headers on, and knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def send(self, message: Message) -> None:
        self.begun = True
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            given = [(name.lower(), value) for name, value in message.get("headers", ())]
            names = {name for name, _ in given}
            message["headers"] = given + [pair for pair in SECURITY_HEADERS if pair[0] not in names]
        await self._send(message)


_LAST_WORD = 0.5
"""Seconds for it."""
_GOING = "The daemon is going down; whether the request was carried out is not known."
