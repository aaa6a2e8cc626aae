"""OpenAI Responses, as Codex speaks it.

Owns: `/responses`, `/models`: bodies, server-sent events, the `x-codex-*` quota headers.
Must not: decide what the model does, or touch a socket.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .scenario import Kind, Turn
from .tools import CUSTOM, native
from .wire import (
    Cut,
    Part,
    Pause,
    Reply,
    Seen,
    fresh,
    json_reply,
    sse,
    stream_reply,
    words,
    working_directory,
)

MODELS = ("gpt-5.5", "gpt-5.4", "gpt-6.1-sol")
SEARCH = "tool_search"
"""Codex keeps the tools of tool servers back; the model finds them by a call of this one."""
USAGE = {
    "input_tokens": 101,
    "input_tokens_details": {"cached_tokens": 22},
    "output_tokens": 33,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 134,
}


def serves(path: str) -> bool:
    """Responses and the list of models."""
    return path.endswith(("/responses", "/models"))


def is_main(body: Any) -> bool:
    """The conversation carries tools, or names the agent in its instructions."""
    return bool(offered_tools(body)) or "codex" in str(body.get("instructions") or "").lower()


def aside(seen: Seen, now: float) -> Reply | None:
    """The list of models."""
    if not seen.path.endswith("/models"):
        return None
    data = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in MODELS]
    return json_reply(200, {"object": "list", "data": data, "models": []})


def sidestep(seen: Seen, now: float) -> Reply:
    """A title."""
    return _response(seen, Turn.text("A title"), now)


def answer(seen: Seen, turn: Turn, now: float) -> Reply:
    """The scripted turn."""
    if turn.kind in (Kind.ANSWER, Kind.REFUSAL, Kind.CONTEXT):
        return _response(seen, turn, now)
    return _error(turn, now)


def offered_tools(body: Any) -> dict[str, Any]:
    """Tool name -> schema, or `CUSTOM`; newer models get theirs as `additional_tools` input items, in namespaces."""
    entries = list(body.get("tools") or [])
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            entries.extend(item.get("tools") or [])
    inner = [
        tool for entry in entries if entry.get("type") == "namespace" for tool in entry.get("tools") or []
    ]
    return {
        entry.get("name") or entry.get("type"): CUSTOM
        if entry.get("type") == "custom"
        else entry.get("parameters")
        for entry in (*entries, *inner)
    }


def _windows(turn: Turn, now: float) -> list[tuple[str, Any]]:
    reset = int(now) + turn.resets_in
    values: list[tuple[str, Any]] = [
        ("plan-type", "plus"),
        ("primary-used-percent", round(turn.used * 100)),
        ("primary-window-minutes", 300),
        ("primary-reset-after-seconds", turn.resets_in),
        ("primary-reset-at", reset),
        ("secondary-used-percent", 13),
        ("secondary-window-minutes", 10080),
        ("secondary-reset-after-seconds", 300000),
        ("secondary-reset-at", reset + 300000),
        ("credits-has-credits", "False"),
        ("credits-unlimited", "False"),
    ]
    return [("x-request-id", fresh("")), *((f"x-codex-{name}", value) for name, value in values)]


def _error(turn: Turn, now: float) -> Reply:
    if turn.kind is Kind.LIMIT:
        error: dict[str, Any] = {
            "type": "usage_limit_reached",
            "message": "The usage limit has been reached",
            "plan_type": "plus",
            "resets_at": int(now) + turn.resets_in,
            "eligible_promo": None,
            "resets_in_seconds": turn.resets_in,
        }
        return json_reply(429, {"error": error}, _windows(turn, now))
    if turn.kind is Kind.MINUTE:
        message = "Rate limit reached for gpt-5.5 on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1s."
        error = {"message": message, "type": "tokens", "param": None, "code": "rate_limit_exceeded"}
        return json_reply(429, {"error": error}, [("retry-after", 1)])
    if turn.kind is Kind.OVERLOAD:
        message = "Our servers are currently overloaded. Please try again later."
        error = {"code": "server_is_overloaded", "message": message, "type": "service_unavailable_error"}
        return json_reply(503, {"error": error})
    message = "Incorrect API key provided."
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}
    return json_reply(401, {"error": error})


def _response(seen: Seen, turn: Turn, now: float) -> Reply:
    items = _items(seen, turn)
    base = {
        "id": fresh("resp_"),
        "object": "response",
        "created_at": int(now),
        "status": "in_progress",
        "model": seen.body.get("model"),
        "output": [],
    }
    if seen.body.get("stream"):
        return stream_reply(_stream(turn, base, items), _windows(turn, now))
    whole = {**base, "status": "completed", "output": items, "usage": USAGE}
    return json_reply(200, whole, _windows(turn, now))


def _items(seen: Seen, turn: Turn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.think:
        summary = [{"type": "summary_text", "text": turn.think}]
        items.append(
            {"type": "reasoning", "id": fresh("rs_"), "summary": summary, "encrypted_content": "c2VhbGVk"}
        )
    if turn.say:
        part = {"type": "output_text", "text": turn.say, "annotations": []}
        items.append(
            {
                "type": "message",
                "id": fresh("msg_"),
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    offered = offered_tools(seen.body)
    cwd = working_directory(seen.text)
    found = (native(call, offered, cwd) for call in turn.calls)
    spaces = _namespaces(seen.body)
    return items + [_call_item(*call, spaces) for call in found if call is not None]


def _namespaces(body: Any) -> dict[str, str]:
    """The namespace of each tool that was given in one, or that a search found: a call has to name it."""
    found = [
        space
        for item in body.get("input") or []
        if isinstance(item, dict) and item.get("type") in ("additional_tools", "tool_search_output")
        for space in item.get("tools") or []
    ]
    return {tool["name"]: space["name"] for space in found for tool in space.get("tools") or []}


def _call_item(name: str, arguments: dict[str, Any] | str, spaces: dict[str, str]) -> dict[str, Any]:
    common: dict[str, Any] = {"status": "completed", "call_id": fresh("call_")}
    if name == SEARCH:
        return {
            "type": "tool_search_call",
            "id": fresh("tsc_"),
            **common,
            "execution": "client",
            "arguments": arguments,
        }
    common |= {"name": name} | ({"namespace": spaces[name]} if name in spaces else {})
    if isinstance(arguments, str):
        return {"type": "custom_tool_call", "id": fresh("ctc_"), **common, "input": arguments}
    return {"type": "function_call", "id": fresh("fc_"), **common, "arguments": json.dumps(arguments)}


def _stream(turn: Turn, base: dict[str, Any], items: list[dict[str, Any]]) -> Iterator[Part]:
    yield _event("response.created", response=base)
    if turn.kind is Kind.CONTEXT:
        message = (
            "Your input exceeds the context window of this model. Please adjust your input and try again."
        )
        error = {"code": "context_length_exceeded", "message": message}
        yield _event("response.failed", response={**base, "status": "failed", "error": error})
        return
    if turn.kind is Kind.REFUSAL:
        why = {"reason": "content_filter"}
        yield _event(
            "response.incomplete", response={**base, "status": "incomplete", "incomplete_details": why}
        )
        return
    for index, item in enumerate(items):
        yield from _item_events(index, item, turn)
    yield _event(
        "response.completed", response={**base, "status": "completed", "output": items, "usage": USAGE}
    )


def _item_events(index: int, item: dict[str, Any], turn: Turn) -> Iterator[Part]:
    place = {"item_id": item["id"], "output_index": index}
    opening = {**item, "content": []} if item["type"] == "message" else item
    yield _event("response.output_item.added", output_index=index, item=opening)
    if item["type"] == "reasoning":
        part = {"type": "summary_text", "text": ""}
        yield _event("response.reasoning_summary_part.added", **place, summary_index=0, part=part)
        yield _event("response.reasoning_summary_text.delta", **place, summary_index=0, delta=turn.think)
        yield _event("response.reasoning_summary_text.done", **place, summary_index=0, text=turn.think)
    if item["type"] == "message":
        for piece in words(turn):
            if isinstance(piece, (Pause, Cut)):
                yield piece
            else:
                yield _event("response.output_text.delta", **place, content_index=0, delta=piece)
    yield _event("response.output_item.done", output_index=index, item=item)


def _event(kind: str, **members: Any) -> bytes:
    return sse({"type": kind, **members}, kind)
