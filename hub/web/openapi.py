"""`GET /openapi.json`."""

from __future__ import annotations
from typing import Any
from hub.web.backend import Backend, JsonObject
from hub.web.route import NoQuery, get


async def document(_: Backend, __: NoQuery) -> JsonObject:
    """This description of the API."""
    return {"openapi": "3.1.0"}


ROUTE = get("/openapi.json", document, answer=dict[str, Any])
