"""The ASGI application: the guard, then the streams and the tool server, then Quart with the route table.

Owns: how a route becomes an endpoint, and which application serves which path.
Must not: hold a route, a rule of the guard, or an actor.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import trio
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from hub.errors import Code, HubError
from hub.web import openapi
from hub.web.backend import Backend
from hub.web.codec import decode_body, decode_query, encode
from hub.web.guard import App, Guard, Policy, Receive, Scope, Send, refuse
from hub.web.problem import Reply, as_hub_error, problem
from hub.web.route import NoQuery, Route
from hub.web.routes import table
from hub.web.stream import SSE, Streams
from hub.web.tools import TOOLS, Mount

Redact = Callable[[str], str]
Endpoint = Callable[..., Awaitable[Response]]


def create_app(
    backend: Backend,
    policy: Policy,
    *,
    port: int,
    drain: trio.Event,
    project: str = "",
    redact: Redact = str,
    tools: App | None = None,
) -> App:
    """The whole application, guarded.

    Args:
        backend: What answers.
        policy: Whom the guard lets in.
        port: Where the server listens.
        drain: When set, open streams are ended with "come back".
        project: The root of the project that is served.
        redact: Applied to every text of an error document.
        tools: The tool server; None = there is none.
    """
    routes = table(port, project)
    streams = Streams(backend, drain, redact)
    return Guard(Dispatch(quart_app(routes, backend, redact), streams, Mount(tools), policy), policy)


@attrs.frozen
class Dispatch:
    """Each path to what serves it; a host that is not ours to nobody, even if the guard fails.

    Hypercorn's `server_names` would do the last, but it answers *before* the guard (404 where 421 is due),
    and it compares the case.
    """

    quart: Any
    streams: Streams
    tools: Mount
    policy: Policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        # Werkzeug strips leading slashes; a path has one spelling here.
        if len(hosts) != 1 or hosts[0] not in self.policy.hosts or scope["path"].startswith("//"):
            await refuse(scope, send, problem(HubError(Code.NOT_FOUND)))
        elif scope["type"] == "websocket":
            await self.streams.websocket(scope, receive, send)
        elif (error := self.streams.plain(scope)) is not None:
            headers = {"Allow": "GET"} if error.code is Code.METHOD_NOT_ALLOWED else None
            await refuse(scope, send, problem(error, headers=headers))
        elif scope["path"] == SSE.path:
            await self.streams.sse(scope, receive, send)
        elif scope["path"] == TOOLS.path:
            await self.tools(scope, receive, send)
        else:
            await self.quart(scope, receive, send)


def quart_app(routes: tuple[Route, ...], backend: Backend, redact: Redact) -> QuartTrio:
    """Quart with an endpoint for each route, and a problem document for everything else."""
    app = QuartTrio("hub.web", static_folder=None)
    app.url_map.merge_slashes = False
    for route in (*routes, openapi.route(routes)):
        _add(app, route, _endpoint(route, backend, redact))

    async def unrouted(error: HTTPException) -> Response:
        return _response(_unrouted(error, redact))

    app.register_error_handler(HTTPException, unrouted)
    return app


def _add(app: QuartTrio, route: Route, endpoint: Endpoint) -> None:
    rule = route.path.replace("{", "<").replace("}", ">")
    app.add_url_rule(
        rule,
        f"{route.method} {route.path}",
        endpoint,
        methods=[route.method],
        provide_automatic_options=False,
    )


def _endpoint(route: Route, backend: Backend, redact: Redact) -> Endpoint:
    async def endpoint(**path: str) -> Response:
        try:
            answer = await route.handle(backend, await _decode(route, path))
            reply = Reply(
                route.status,
                {"Content-Type": route.media},
                answer if isinstance(answer, bytes) else encode(answer),
            )
        except Exception as error:  # noqa: BLE001  # the edge: what is not foreseen is logged and told as a 500
            reply = problem(as_hub_error(error), redact=redact)
        return _response(reply)

    return endpoint


async def _decode(route: Route, path: dict[str, str]) -> Any:
    if route.method == "GET":
        return decode_query(request.query_string, route.given, path)
    decode_query(request.query_string, NoQuery, {})
    body: Any = await request.get_data(cache=False)
    return decode_body(body, route.given, path)


def _unrouted(error: HTTPException, redact: Redact) -> Reply:
    if error.code == 405:  # noqa: PLR2004
        allowed = dict(error.get_headers()).get("Allow", "")
        return problem(HubError(Code.METHOD_NOT_ALLOWED), redact=redact, headers={"Allow": allowed})
    if error.code == 404:  # noqa: PLR2004
        return problem(HubError(Code.NOT_FOUND), redact=redact)
    return problem(as_hub_error(error), redact=redact)


def _response(reply: Reply) -> Response:
    return Response(reply.body, status=reply.status, headers=dict(reply.headers))
