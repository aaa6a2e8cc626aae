"""An answer that fits into what a model is given of it.

Owns: how much one answer may hold, where a long one is cut, and how the next part is asked for.
Must not: drop anything silently; what is cut is marked, and what is left out can be asked for.
"""

from __future__ import annotations

import json
from typing import Any

from hub.domain.jsonvalue import JsonObject
from hub.mcp.tools import Paging, Tool

PAGE = 24_000
"""Bytes of JSON in one answer. It goes out twice, for programs and for readers: below 25,000 tokens in all, also
where a token is two bytes."""
_LIMITS = (4000, 400, 40)
"""Characters of a text, and entries of a list, that stay where all of them are too many."""


def page(tool: Tool, answer: Any, arguments: JsonObject) -> JsonObject:
    """The structured answer of a tool: no more than a `PAGE`, with the way to the rest."""
    body = {tool.wraps: answer} if tool.wraps else dict(answer)
    if tool.paging is Paging.NONE:
        short: JsonObject = _fitting({name: value for name, value in body.items() if value is not None})
        return short
    start = arguments.get("cursor", 0)
    whole = body[tool.long][start:]
    part = _text_part(whole) if isinstance(whole, str) else _items_part(whole)
    more = len(part) < len(whole)
    told = part if isinstance(part, str) else list(map(_fitting, part))
    rest = {name: _fitting(value) for name, value in body.items() if name != tool.long}
    if tool.paging is Paging.SINCE:
        newest = whole[len(part) - 1]["id"] if part else arguments.get("since", 0)
        more = more or len(whole) == tool.fixed["limit"]
        return {**rest, tool.long: told, "more": more, "next": newest}
    return {**rest, tool.long: told, "more": more} | ({"next": start + len(part)} if more else {})


def size(value: object) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _text_part(text: str) -> str:
    """As many whole lines as fit; a part of a line where not even one does."""
    part = text
    while (bytes_ := size(part)) > PAGE:
        part = part[: len(part) * PAGE // bytes_ - 1]
    if part is text:
        return text
    return part[: part.rfind("\n") + 1] or part


def _items_part(items: list[Any]) -> list[Any]:
    """As many as fit, and one at least."""
    left = PAGE
    for index, item in enumerate(items):
        left -= min(size(_fitting(item)), PAGE)
        if left < 0 and index:
            return items[:index]
    return items


def _fitting(value: object) -> Any:
    """The value, cut where it is larger than a page all by itself."""
    if size(value) <= PAGE // 2:
        return value
    for limit in _LIMITS:
        value = _cut(value, limit)
        if size(value) <= PAGE:
            return value
    return {"omitted": "too large to be shown here"} if isinstance(value, dict) else "(too large to be shown)"


def _cut(value: object, limit: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]} [{len(value) - limit} more characters]"
    if isinstance(value, list):
        return [_cut(item, limit) for item in value[:limit]]
    if isinstance(value, dict):
        return {name: _cut(item, limit) for name, item in list(value.items())[:limit]}
    return value
