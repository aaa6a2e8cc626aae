"""OpenAI chat completions, as Qwen Code, Copilot CLI, OpenCode and every local model runner speak it.

Owns: `/chat/completions`: bodies, chunks, the errors of the OpenAI platform.
Must not: decide what the model does, or touch a socket.

The platform tells no reset with a used-up quota (`insufficient_quota`): the server tells none either.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import attrs

from .scenario import Kind, Turn
from .tools import CUSTOM, listing, native
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
    strings,
    words,
    working_directory,
)

USAGE = {
    "prompt_tokens": 101,
    "completion_tokens": 33,
    "total_tokens": 134,
    "prompt_tokens_details": {"cached_tokens": 22},
}
LISTING = "*file listing*"
"""How Aider's prompt names a whole file, in a fence below its path."""
SHELLS = ("run_shell_command", "bash", "Bash")
_ERRORS: dict[Kind, tuple[int, dict[str, Any]]] = {
    Kind.LIMIT: (
        429,
        {
            "message": "You exceeded your current quota, please check your plan and billing details. For more "
            "information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
            "type": "insufficient_quota",
            "param": None,
            "code": "insufficient_quota",
        },
    ),
    Kind.MINUTE: (
        429,
        {
            "message": "Rate limit reached for gpt-5.5 in organization org-test on requests per min (RPM): "
            "Limit 3, Used 3, Requested 1. Please try again in 1s.",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        },
    ),
    Kind.OVERLOAD: (
        503,
        {
            "message": "The server is currently overloaded with other requests. Sorry about that! You can "
            "retry your request.",
            "type": "server_error",
            "param": None,
            "code": None,
        },
    ),
    Kind.AUTH: (
        401,
        {
            "message": "Incorrect API key provided: key.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_api_key",
        },
    ),
    Kind.CONTEXT: (
        400,
        {
            "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in "
            "210000 tokens.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        },
    ),
}


def serves(path: str) -> bool:
    """Chat completions."""
    return path.endswith("/chat/completions")


def is_main(body: Any) -> bool:
    """The conversation carries tools, the one for commands among them: Qwen's keeper of memories has none.

    Aider offers no tools at all: its conversation is the one that explains how to write a file as text.
    """
    return any(name in offered_tools(body) for name in SHELLS) or _wants_listings(body)


def _wants_listings(body: Any) -> bool:
    return not body.get("tools") and any(LISTING in text for text in strings(body.get("messages")))


def aside(seen: Seen, now: float) -> Reply | None:
    """Nothing is beside the conversation under this path."""
    return None


def sidestep(seen: Seen, now: float) -> Reply:
    """A title."""
    return _completion(seen, Turn.text("A title"), now)


def answer(seen: Seen, turn: Turn, now: float) -> Reply:
    """The scripted turn."""
    if turn.kind not in _ERRORS:
        return _completion(seen, turn, now)
    status, error = _ERRORS[turn.kind]
    if turn.dated:
        instant = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + turn.resets_in))
        error = {**error, "message": f"Your plan's quota is exceeded. It will reset at {instant}."}
    headers = [("retry-after", 1)] if turn.kind is Kind.MINUTE else []
    return json_reply(status, {"error": error}, headers)


def _completion(seen: Seen, turn: Turn, now: float) -> Reply:
    if _wants_listings(seen.body) and turn.calls:
        turn = attrs.evolve(turn, say="\n\n".join([turn.say, *map(listing, turn.calls)]), calls=())
    calls = [] if turn.kind is Kind.REFUSAL else _calls(seen, turn)
    finish = "content_filter" if turn.kind is Kind.REFUSAL else "tool_calls" if calls else "stop"
    base = {"id": fresh("chatcmpl-"), "created": int(now), "model": seen.body.get("model")}
    if seen.body.get("stream"):
        return stream_reply(_stream(turn, base, calls, finish))
    message: dict[str, Any] = {"role": "assistant", "content": turn.say or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return json_reply(200, {**base, "object": "chat.completion", "choices": [choice], "usage": USAGE})


def offered_tools(body: Any) -> dict[str, Any]:
    """Tool name -> schema, or `CUSTOM` for a free-form one."""
    entries = body.get("tools") or []
    functions = [entry["function"] for entry in entries if "function" in entry]
    custom = [entry["custom"]["name"] for entry in entries if "custom" in entry]
    return {f.get("name", ""): f.get("parameters") for f in functions} | dict.fromkeys(custom, CUSTOM)


def _calls(seen: Seen, turn: Turn) -> list[dict[str, Any]]:
    offered = offered_tools(seen.body)
    found = (native(call, offered, working_directory(seen.text)) for call in turn.calls)
    return [_call(*call) for call in found if call is not None]


def _call(name: str, arguments: dict[str, Any] | str) -> dict[str, Any]:
    if isinstance(arguments, str):
        return {"id": fresh("call_"), "type": "custom", "custom": {"name": name, "input": arguments}}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": fresh("call_"), "type": "function", "function": function}


def _stream(turn: Turn, base: dict[str, Any], calls: list[dict[str, Any]], finish: str) -> Iterator[Part]:
    def chunk(delta: dict[str, Any], ended: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": ended, "logprobs": None}
        return sse({**base, "object": "chat.completion.chunk", "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    if turn.kind is not Kind.REFUSAL:
        if turn.think:
            yield chunk({"reasoning_content": turn.think})
        for piece in words(turn):
            yield piece if isinstance(piece, (Pause, Cut)) else chunk({"content": piece})
        for index, call in enumerate(calls):
            yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, finish)
    yield sse({**base, "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
    yield b"data: [DONE]\n\n"
