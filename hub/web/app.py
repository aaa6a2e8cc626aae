"""The ASGI application: the guard, then the streams, the tool server and the page, then Quart with the route table.

Owns: which application serves which path.
Must not: hold a route, a rule of the guard, or an actor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import cast

import attrs

from hub.errors import Code, HubError
from hub.web.codec import required
from hub.web.context import Context
from hub.web.guard import App, Guard, Policy, Receive, Scope, Send, respond
from hub.web.inprocess import InProcess
from hub.web.page.mount import Pages
from hub.web.problem import Redact, as_it_is, problem
from hub.web.route import Operation
from hub.web.routes import table
from hub.web.routing import quart_app
from hub.web.stream import SSE, Streams
from hub.web.tools import TOOLS, Mount

Tools = Callable[[InProcess], App]
"""Makes a tool server that asks what it is given."""


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
    policy = attrs.evolve(policy, bodies=_bodies([*routes, TOOLS]))
    quart = quart_app(routes, context, redact)
    api = InProcess(routes, quart.url_map, context, redact)
    pages = Pages(api, policy.project.decode())
    return Guard(
        PathDispatcher(cast("App", quart), streams, Mount(tools and tools(api)), pages, policy), policy
    )


def _bodies(operations: Iterable[Operation]) -> re.Pattern[str]:
    """The paths whose POST needs a body."""
    paths = (one.path for one in operations if one.method == "POST" and required(one.given))
    return re.compile("|".join(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + r"\Z" for path in paths))


@attrs.frozen
class PathDispatcher:
    """Each path to what serves it; a host that is not ours to nobody, even if the guard fails.

    Hypercorn's `server_names` would do the last, but it answers *before* the guard (404 where 421 is due),
    and it compares the case.
    """

    quart: App
    streams: Streams
    tools: Mount
    pages: Pages
    policy: Policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        # Werkzeug strips leading slashes; a path has one spelling here.
        if len(hosts) != 1 or hosts[0] not in self.policy.hosts or scope["path"].startswith("//"):
            await respond(scope, send, problem(HubError(Code.NOT_FOUND)))
        elif scope["type"] == "websocket":
            await self.streams.websocket(scope, receive, send)
        elif (error := self.streams.plain(scope)) is not None:
            wrong_method = error.code is Code.METHOD_NOT_ALLOWED
            headers = {"Allow": "GET"} if wrong_method else {"Sec-WebSocket-Version": "13"}
            await respond(scope, send, problem(error, headers=headers))
        elif scope["path"] == SSE.path:
            await self.streams.sse(scope, receive, send)
        elif scope["path"] == TOOLS.path:
            await self.tools(scope, receive, send)
        elif self.pages.takes(scope):
            await self.pages(scope, receive, send)
        else:
            await self.quart(scope, receive, send)
