"""Anthropic Messages, as Claude Code speaks it.

Owns: `/v1/messages`, `/v1/messages/count_tokens`, `/api/oauth/usage`: bodies, server-sent events, the unified
rate-limit headers.
Must not: decide what the model does, or touch a socket.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from .scenario import Kind, Turn
from .tools import native
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

USAGE = {
    "input_tokens": 101,
    "cache_creation_input_tokens": 11,
    "cache_read_input_tokens": 22,
    "output_tokens": 1,
    "service_tier": "standard",
}
OUTPUT_TOKENS = 33


def serves(path: str) -> bool:
    """Messages, token counts and the usage endpoint."""
    return path.endswith(("/messages", "/messages/count_tokens", "/oauth/usage"))


def is_main(body: Any) -> bool:
    """The conversation carries the tools; titles and summaries do not."""
    return len(body.get("tools") or []) > 1


def aside(seen: Seen, now: float) -> Reply | None:
    """Token counts and usage."""
    if seen.path.endswith("/count_tokens"):
        return json_reply(200, {"input_tokens": 1234})
    if seen.path.endswith("/oauth/usage"):
        reset = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(now + 7200))
        windows = {"five_hour": 42.0, "seven_day": 13.0}
        return json_reply(
            200, {name: {"utilization": used, "resets_at": reset} for name, used in windows.items()}
        )
    return None


def sidestep(seen: Seen, now: float) -> Reply:
    """A title."""
    return _message(seen, Turn.text("A title"), now)


def answer(seen: Seen, turn: Turn, now: float) -> Reply:
    """The scripted turn."""
    if turn.kind in (Kind.ANSWER, Kind.REFUSAL):
        return _message(seen, turn, now)
    return _error(turn, now)


def _error(turn: Turn, now: float) -> Reply:
    request = fresh("req_")
    limit = "This request would exceed your account's rate limit. Please try again later."
    minute = "This request would exceed your organization's rate limit of 50 requests per minute."
    forms: dict[Kind, tuple[int, str, str, list[tuple[str, Any]]]] = {
        Kind.LIMIT: (
            429,
            "rate_limit_error",
            limit,
            [("retry-after", turn.resets_in), ("x-should-retry", "true"), *_windows(turn, now)],
        ),
        Kind.MINUTE: (
            429,
            "rate_limit_error",
            minute,
            [("retry-after", 1), ("anthropic-ratelimit-requests-remaining", 0)],
        ),
        Kind.OVERLOAD: (529, "overloaded_error", "Overloaded", [("x-should-retry", "true")]),
        Kind.AUTH: (401, "authentication_error", "invalid x-api-key", []),
        Kind.CONTEXT: (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            [],
        ),
    }
    status, name, message, headers = forms[turn.kind]
    body = {"type": "error", "error": {"type": name, "message": message}, "request_id": request}
    return json_reply(status, body, [("request-id", request), *headers])


def _windows(turn: Turn, now: float) -> list[tuple[str, Any]]:
    """The unified rate-limit headers a subscription's answers carry."""
    reset = int(now) + turn.resets_in
    state = "rejected" if turn.used >= 1 else "allowed_warning" if turn.used >= 0.9 else "allowed"
    values: list[tuple[str, Any]] = [
        ("status", state),
        ("5h-status", state),
        ("5h-utilization", turn.used),
        ("5h-reset", reset),
        ("7d-status", "allowed"),
        ("7d-utilization", 0.13),
        ("7d-reset", reset + 300000),
        ("representative-claim", "five_hour"),
        ("fallback-percentage", "0.5"),
        ("reset", reset),
        ("overage-status", "rejected"),
        ("overage-disabled-reason", "org_level_disabled"),
    ]
    if state == "allowed_warning":
        values.append(("5h-surpassed-threshold", "0.9"))
    return [(f"anthropic-ratelimit-unified-{name}", value) for name, value in values]


def _message(seen: Seen, turn: Turn, now: float) -> Reply:
    tools = _tool_blocks(seen, turn)
    stop = "refusal" if turn.kind is Kind.REFUSAL else "tool_use" if tools else "end_turn"
    message = {
        "id": fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": seen.body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }
    headers = [("request-id", fresh("req_")), *_windows(turn, now)]
    if seen.body.get("stream"):
        return stream_reply(_stream(seen, turn, message, tools, stop), headers)
    blocks = [] if turn.kind is Kind.REFUSAL else [{"type": "text", "text": turn.say}, *tools]
    usage = {**USAGE, "output_tokens": OUTPUT_TOKENS}
    return json_reply(200, {**message, "content": blocks, "stop_reason": stop, "usage": usage}, headers)


def _tool_blocks(seen: Seen, turn: Turn) -> list[dict[str, Any]]:
    offered = {tool.get("name"): tool.get("input_schema") for tool in seen.body.get("tools") or []}
    cwd = working_directory(seen.text)
    found = [native(call, offered, cwd) for call in turn.calls]
    return [
        {"type": "tool_use", "id": fresh("toolu_"), "name": call[0], "input": call[1]}
        for call in found
        if call is not None
    ]


def _stream(
    seen: Seen, turn: Turn, message: dict[str, Any], tools: list[dict[str, Any]], stop: str
) -> Iterator[Part]:
    yield _event("message_start", message=message)
    index = 0
    if turn.kind is not Kind.REFUSAL:
        if turn.think and seen.body.get("thinking"):
            yield from _thinking_block(index, turn.think)
            index += 1
        if turn.say:
            yield from _text_block(index, turn)
            index += 1
        for block in tools:
            yield from _tool_block(index, block)
            index += 1
    yield _event(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={"output_tokens": OUTPUT_TOKENS},
    )
    yield _event("message_stop")


def _event(kind: str, **members: Any) -> bytes:
    return sse({"type": kind, **members}, kind)


def _delta(index: int, **delta: Any) -> bytes:
    return _event("content_block_delta", index=index, delta=delta)


def _thinking_block(index: int, text: str) -> Iterator[Part]:
    yield _event(
        "content_block_start",
        index=index,
        content_block={"type": "thinking", "thinking": "", "signature": ""},
    )
    yield _delta(index, type="thinking_delta", thinking=text)
    yield _delta(index, type="signature_delta", signature="c2lnbmVk")
    yield _event("content_block_stop", index=index)


def _text_block(index: int, turn: Turn) -> Iterator[Part]:
    yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
    for piece in words(turn):
        yield piece if isinstance(piece, (Pause, Cut)) else _delta(index, type="text_delta", text=piece)
    yield _event("content_block_stop", index=index)


def _tool_block(index: int, block: dict[str, Any]) -> Iterator[Part]:
    yield _event("content_block_start", index=index, content_block={**block, "input": {}})
    yield _delta(index, type="input_json_delta", partial_json=json.dumps(block["input"]))
    yield _event("content_block_stop", index=index)
