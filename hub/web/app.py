"""The ASGI application: the guard, then the streams, the tool server and what is polled, then Quart with the route table.

Owns: which application serves which path, and when Quart comes to be.
Must not: hold a route, a rule of the guard, or an actor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import attrs
import trio

from hub.errors import Code, HubError
from hub.web.answer import answer
from hub.web.backend import Backend
from hub.web.codec import decode_query, required
from hub.web.guard import App, Guard, Policy, Receive, Scope, Send, respond
from hub.web.problem import Redact, Reply, as_hub_error, as_it_is, problem
from hub.web.route import Route
from hub.web.routes import table
from hub.web.stream import SSE, Streams
from hub.web.tools import TOOLS, Mount

POLLED = ("/api/health", "/api/status")
"""What a start is asked, and then again and again."""
_BODY = (b"content-length", b"transfer-encoding")


def create_app(
    backend: Backend,
    policy: Policy,
    streams: Streams,
    *,
    port: int,
    project: str = "",
    redact: Redact = as_it_is,
    tools: App | None = None,
) -> App:
    """The whole application, guarded.

    Args:
        backend: What answers.
        policy: Whom the guard lets in.
        streams: What serves those who follow the event log.
        port: Where the server listens.
        project: The root of the project that is served.
        redact: Applied to every text of an error document, and to every answer that quotes files, git or agents.
        tools: The tool server; None = there is none.
    """
    routes = table(port, project)
    polled = Polled({route.path: route for route in routes if route.path in POLLED}, backend, redact)
    bodiless = frozenset(route.path for route in routes if not required(route.given))
    policy = attrs.evolve(policy, bodiless=bodiless)
    quart = Soon(partial(_quart_app, routes, backend, redact))
    return Guard(Dispatch(quart, polled, streams, Mount(tools), policy), policy)


def _quart_app(routes: tuple[Route, ...], backend: Backend, redact: Redact) -> App:
    from hub.web.routing import quart_app  # noqa: PLC0415  # it takes longer than all the rest of a start

    return cast("App", quart_app(routes, backend, redact))


class Soon:
    """An application that is made for its first request, in a thread; why it cannot be made is that request's answer."""

    def __init__(self, make: Callable[[], App]) -> None:
        self._make = make
        self._made: App | None = None
        self._making = trio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        try:
            async with self._making:
                if self._made is None:
                    self._made = await trio.to_thread.run_sync(self._make)
                made = self._made
        except Exception as error:  # noqa: BLE001  # the edge
            await respond(scope, send, problem(as_hub_error(error)))
            return
        await made(scope, receive, send)


@attrs.frozen
class Polled:
    """Routes without parameters in their paths that are answered without a router, and before there is one."""

    routes: Mapping[str, Route]
    backend: Backend
    redact: Redact

    def takes(self, scope: Scope) -> bool:
        """Whether the request is for one of them.

        One with a body, which means nothing, is not: Hypercorn closes a connection that is answered before all has come.
        """
        plain = scope["method"] == "GET" and scope["path"] in self.routes
        return plain and not any(name in _BODY for name, _ in scope["headers"])

    async def reply(self, scope: Scope) -> Reply:
        """What it is told."""
        route = self.routes[scope["path"]]

        async def decode() -> Any:
            return decode_query(scope["query_string"], route.given, {})

        return await answer(route, self.backend, decode, self.redact)


@attrs.frozen
class Dispatch:
    """Each path to what serves it; a host that is not ours to nobody, even if the guard fails.

    Hypercorn's `server_names` would do the last, but it answers *before* the guard (404 where 421 is due),
    and it compares the case.
    """

    quart: App
    polled: Polled
    streams: Streams
    tools: Mount
    policy: Policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        # Werkzeug strips leading slashes; a path has one spelling here.
        if len(hosts) != 1 or hosts[0] not in self.policy.hosts or scope["path"].startswith("//"):
            await respond(scope, send, problem(HubError(Code.NOT_FOUND)))
        elif scope["type"] == "websocket":
            await self.streams.websocket(scope, receive, send)
        elif (error := self.streams.plain(scope)) is not None:
            headers = {"Allow": "GET"} if error.code is Code.METHOD_NOT_ALLOWED else None
            await respond(scope, send, problem(error, headers=headers))
        elif scope["path"] == SSE.path:
            await self.streams.sse(scope, receive, send)
        elif scope["path"] == TOOLS.path:
            await self.tools(scope, receive, send)
        elif self.polled.takes(scope):
            await respond(scope, send, await self.polled.reply(scope))
        else:
            await self.quart(scope, receive, send)
