"""A request's answer: decode -> handle -> encode, and any failure as a problem document.

Owns: the order of these, the same for every route, and what of it is done in a worker thread.
Must not: know a framework, or any one route.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from hub.api.convert import unstructure
from hub.web.codec import encode
from hub.web.context import Context
from hub.web.problem import Redact, WholeResponse, as_hub_error, problem
from hub.web.route import Route


async def answer(
    route: Route, context: Context, decode: Callable[[], Awaitable[object]], redact: Redact
) -> WholeResponse:
    """What the route says to what `decode` gives. Never raises an error."""
    try:
        body = await told(route, context, decode, redact)
    except Exception as error:  # noqa: BLE001  # the edge: what is not foreseen is logged and told as a 500
        return problem(as_hub_error(error), redact=redact)
    return WholeResponse(route.status, {"Content-Type": route.media}, body)


async def told(
    route: Route, context: Context, decode: Callable[[], Awaitable[object]], redact: Redact
) -> bytes:
    """The body of the answer where all goes well. Raises whatever went wrong."""
    found = await route.handle(context, await decode())
    if isinstance(found, bytes):
        return found
    if route.foreign:
        return await trio.to_thread.run_sync(lambda: encode(redact(unstructure(found))))
    return encode(unstructure(found))
