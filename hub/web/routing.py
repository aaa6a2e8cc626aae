"""Quart with the route table.

Owns: how a route becomes an endpoint of Quart's, and what becomes of a request that no route takes.
Must not: hold a route, or know how a request is answered (`answer` does).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from hub.api.base import Nothing
from hub.errors import Code, HubError
from hub.web import openapi
from hub.web.answer import answer
from hub.web.codec import decode_body, decode_query
from hub.web.context import Context
from hub.web.problem import Redact, WholeResponse, as_hub_error, problem
from hub.web.route import Route

Endpoint = Callable[..., Awaitable[Response]]
_LARGE = 1 << 14
"""Bytes of a body that takes longer to decode than a thread to ask for."""


def quart_app(routes: tuple[Route, ...], context: Context, redact: Redact) -> QuartTrio:
    """Quart with an endpoint for each route, and a problem document for everything else."""
    app = QuartTrio("hub.web", static_folder=None)
    app.url_map.merge_slashes = False
    for route in (*routes, openapi.route(routes)):
        _add(app, route, _endpoint(route, context, redact))

    async def unrouted(error: HTTPException) -> Response:
        return _response(_unrouted(error, redact))

    app.register_error_handler(HTTPException, unrouted)
    return app


def _add(app: QuartTrio, route: Route, endpoint: Endpoint) -> None:
    rule = route.path.replace("{", "<").replace("}", ">")
    app.add_url_rule(
        rule,
        route.name,
        endpoint,
        methods=[route.method],
        provide_automatic_options=False,
    )


def _endpoint(route: Route, context: Context, redact: Redact) -> Endpoint:
    async def endpoint(**path: str) -> Response:
        return _response(await answer(route, context, partial(_decode, route, path), redact))

    return endpoint


async def _decode(route: Route, path: dict[str, str]) -> object:
    if route.method == "GET":
        return decode_query(request.query_string, route.given, path)
    decode_query(request.query_string, Nothing, {})
    body: Any = await request.get_data(cache=False)
    if len(body) > _LARGE:
        return await trio.to_thread.run_sync(decode_body, body, route.given, path)
    return decode_body(body, route.given, path)


def _unrouted(error: HTTPException, redact: Redact) -> WholeResponse:
    match error.code:
        case 405:
            allowed = dict(error.get_headers()).get("Allow", "")
            return problem(HubError(Code.METHOD_NOT_ALLOWED), redact=redact, headers={"Allow": allowed})
        case 404:
            return problem(HubError(Code.NOT_FOUND), redact=redact)
        case _:
            return problem(as_hub_error(error), redact=redact)


def _response(reply: WholeResponse) -> Response:
    return Response(reply.body, status=reply.status, headers=dict(reply.headers))
