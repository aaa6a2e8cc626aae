"""The API as this process itself asks it: no connection, and so no guard and no token.

Owns: the way from a method and a path to a route, and from its answer to a JSON value or a `HubError`.
Must not: know who asks, or answer anything otherwise than the same request over HTTP is answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import unquote, urlencode

import msgspec
import trio
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map

from hub.errors import Code, HubError
from hub.web.answer import told
from hub.web.codec import decode_body, decode_query
from hub.web.context import Context
from hub.web.problem import Redact, as_hub_error, redacted
from hub.web.route import Route


class InProcess:
    """Every method raises `HubError`: the one whose problem document is served over HTTP.

    Args:
        routes: What can be asked.
        paths: Whose each path is, by the routes' names: what HTTP requests go by.
        context: What answers.
        redact: Applied to every text of an error, and to every answer that quotes files, git or agents.
    """

    def __init__(self, routes: tuple[Route, ...], paths: Map, context: Context, redact: Redact) -> None:
        self._routes = {route.name: route for route in routes}
        self._paths = paths.bind("")
        self._context = context
        self._redact = redact

    async def get(self, path: str, query: Mapping[str, object]) -> object:
        """The JSON of a resource."""
        return await self._ask("GET", path, decode_query, urlencode(query))

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """What a POST made or changed."""
        return await self._ask("POST", path, decode_body, json.dumps(body))

    async def _ask(self, method: str, path: str, decode: Callable[..., object], given: str) -> object:
        try:
            route, params = self._found(method, path)
            asked = partial(trio.to_thread.run_sync, decode, given.encode(), route.given, params)
            body = await told(route, self._context, asked, self._redact)
            return await trio.to_thread.run_sync(msgspec.json.decode, body)  # it may be large
        except Exception as error:
            raise redacted(as_hub_error(error), self._redact) from error

    def _found(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        try:
            name, params = self._paths.match(unquote(path), method)
            return self._routes[name], params
        except (HTTPException, KeyError) as error:
            raise HubError(Code.NOT_FOUND) from error
