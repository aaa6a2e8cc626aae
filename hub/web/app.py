"""The ASGI application: the guard, then what serves each path: the streams, the tool server, a page, or a route.

Owns: which application serves which path, and what becomes of a request that no operation takes.
Must not: hold a route, a rule of the guard, or an actor; or know how a request of a route is answered (`answer` does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import attrs
import trio

from hub.api.base import Nothing
from hub.errors import Code, HubError
from hub.web import openapi
from hub.web.answer import answer
from hub.web.codec import decode_body, decode_query, required
from hub.web.context import Context
from hub.web.guard import App, Guard, Policy, Receive, Scope, Send, respond
from hub.web.inprocess import InProcess
from hub.web.page.mount import Pages
from hub.web.problem import Redact, WholeResponse, as_it_is, problem
from hub.web.route import Operation, Route
from hub.web.routes import table
from hub.web.routing import Methods, PathTable
from hub.web.stream import SOCKET, SSE, Streams
from hub.web.tools import TOOLS

Tools = Callable[[InProcess], App]
"""Makes a tool server that asks what it is given."""
_LARGE = 1 << 14
"""Bytes of a body that takes longer to decode than a thread to ask for."""


def create_app(
    context: Context,
    policy: Policy,
    streams: Streams,
    *,
    port: int,
    project: str = "",
    redact: Redact = as_it_is,
    tools: Tools | None = None,
) -> App:
    """The whole application, guarded.

    Args:
        context: What answers.
        policy: Whom the guard lets in.
        streams: What serves those who follow the event log.
        port: Where the server listens.
        project: The root of the project that is served.
        redact: Applied to every text of an error document, and to every answer that quotes files, git or agents.
        tools: Makes the tool server; None = there is none.
    """
    routes = table(port, project)
    bodiless = frozenset(route.path for route in routes if not required(route.given))
    policy = attrs.evolve(policy, bodiless=bodiless)
    api = InProcess(routes, context, redact)
    others: dict[str, App] = {SSE.path: streams.sse}
    operations: list[Operation] = [*routes, openapi.route(routes), SSE]
    if tools is not None:
        others[TOOLS.path] = tools(api)
        operations.append(TOOLS)
    pages = Pages(api, policy.project.decode())
    return Guard(
        PathDispatcher(PathTable(operations), others, streams, pages, policy, context, redact), policy
    )


@attrs.frozen
class PathDispatcher:
    """Each path to what serves it; a host that is not ours to nobody, even if the guard fails.

    Hypercorn's `server_names` would do the last, but it answers *before* the guard (404 where 421 is due),
    and it compares the case.
    """

    paths: PathTable
    others: Mapping[str, App]
    """By their paths, what serves the operations that are no routes."""
    streams: Streams
    pages: Pages
    policy: Policy
    context: Context
    redact: Redact

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self.policy.hosts:
            await respond(scope, send, problem(HubError(Code.NOT_FOUND)))
        elif scope["type"] == "websocket":
            await self.streams.websocket(scope, receive, send)
        elif self.pages.takes(scope):
            await self.pages(scope, receive, send)
        else:
            await self._operation(scope, receive, send)

    async def _operation(self, scope: Scope, receive: Receive, send: Send) -> None:
        methods, parameters = self.paths.at(scope["path"])
        operation = methods.get(scope["method"])
        if operation is None:
            await respond(scope, send, _unrouted(scope["path"], methods))
        elif isinstance(operation, Route):
            await self._route(operation, parameters, scope, receive, send)
        else:
            await self.others[operation.path](scope, receive, send)

    async def _route(
        self, route: Route, parameters: dict[str, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request, unless who asks has gone."""
        body = (await receive())["body"]
        decode = partial(_decode, route, parameters, scope["query_string"], body)

        async def until_gone() -> None:
            await receive()
            nursery.cancel_scope.cancel(reason="the client has gone")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_gone)
            await respond(scope, send, await answer(route, self.context, decode, self.redact))
            nursery.cancel_scope.cancel(reason="it is answered")


def _unrouted(path: str, methods: Methods) -> WholeResponse:
    if path == SOCKET.path:
        return problem(
            HubError(Code.MALFORMED, "This path takes a WebSocket handshake", hint="See /openapi.json.")
        )
    if not methods:
        return problem(HubError(Code.NOT_FOUND))
    return problem(HubError(Code.METHOD_NOT_ALLOWED), headers={"Allow": ", ".join(methods)})


async def _decode(route: Route, parameters: dict[str, str], query: bytes, body: bytes) -> object:
    if route.method == "GET":
        return decode_query(query, route.given, parameters)
    decode_query(query, Nothing, {})
    if len(body) > _LARGE:
        return await trio.to_thread.run_sync(decode_body, body, route.given, parameters)
    return decode_body(body, route.given, parameters)
