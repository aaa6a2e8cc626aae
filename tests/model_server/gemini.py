"""Gemini generateContent, as Gemini CLI speaks it.

Owns: `:generateContent`, `:streamGenerateContent`, `:countTokens`: bodies and server-sent events.
Must not: decide what the model does, or touch a socket.
"""

from __future__ import annotations

import json
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

MODEL = "gemini-2.5-pro"
_TYPE = "type.googleapis.com/google.rpc."
USAGE = {
    "promptTokenCount": 101,
    "candidatesTokenCount": 33,
    "totalTokenCount": 139,
    "cachedContentTokenCount": 22,
    "thoughtsTokenCount": 5,
}


def serves(path: str) -> bool:
    """The methods of a model resource."""
    return path.endswith((":generateContent", ":streamGenerateContent", ":countTokens"))


def is_main(body: Any) -> bool:
    """The conversation carries the tools; routing and title requests do not."""
    return len(_offered(body)) > 1


def aside(seen: Seen, now: float) -> Reply | None:
    """Token counts."""
    return json_reply(200, {"totalTokens": 1234}) if seen.path.endswith(":countTokens") else None


def sidestep(seen: Seen, now: float) -> Reply:
    """Whatever the router or the next-speaker check wants to hear."""
    verdict = {
        "reasoning": "simple",
        "model_choice": "flash",
        "next_speaker": "user",
        "complexity_reasoning": "simple",
        "complexity_score": 1,
    }
    chunk = _chunk([{"text": json.dumps(verdict)}], "STOP")
    return stream_reply(iter([sse(chunk)])) if _streams(seen) else json_reply(200, chunk)


def answer(seen: Seen, turn: Turn, now: float) -> Reply:
    """The scripted turn."""
    if turn.kind in (Kind.ANSWER, Kind.REFUSAL):
        if _streams(seen):
            return stream_reply(_stream(seen, turn))
        return json_reply(200, _whole(seen, turn))
    return _error(turn)


def _streams(seen: Seen) -> bool:
    return ":stream" in seen.path


def _offered(body: Any) -> dict[str, Any]:
    declarations = [
        entry for tool in body.get("tools") or [] for entry in tool.get("functionDeclarations") or []
    ]
    return {
        entry["name"]: entry.get("parametersJsonSchema") or entry.get("parameters") for entry in declarations
    }


def _error(turn: Turn) -> Reply:
    if turn.kind in (Kind.LIMIT, Kind.MINUTE):
        return _exhausted(turn)
    forms: dict[Kind, tuple[int, str, str, list[dict[str, Any]]]] = {
        Kind.OVERLOAD: (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", []),
        Kind.AUTH: (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            [{"@type": _TYPE + "ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
        ),
        Kind.CONTEXT: (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            [],
        ),
    }
    code, status, message, details = forms[turn.kind]
    return json_reply(
        code, {"error": {"code": code, "message": message, "status": status, "details": details}}
    )


def _exhausted(turn: Turn) -> Reply:
    daily = turn.kind is Kind.LIMIT
    delay = f"{turn.resets_in}s" if daily else "1s"
    window = "PerDay" if daily else "PerMinute"
    metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests"
    violation = {
        "quotaMetric": metric,
        "quotaId": f"GenerateRequests{window}PerProjectPerModel-FreeTier",
        "quotaDimensions": {"location": "global", "model": MODEL},
        "quotaValue": "50",
    }
    message = (
        "You exceeded your current quota, please check your plan and billing details. "
        f"\n* Quota exceeded for metric: {metric}, limit: 50, model: {MODEL}\nPlease retry in {delay}."
    )
    details = [
        {"@type": _TYPE + "QuotaFailure", "violations": [violation]},
        {"@type": _TYPE + "RetryInfo", "retryDelay": delay},
    ]
    return json_reply(
        429, {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}}
    )


def _chunk(parts: list[dict[str, Any]], finish: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": USAGE,
        "modelVersion": MODEL,
        "responseId": fresh("r"),
    }


def _refused() -> dict[str, Any]:
    rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
    candidate = {"index": 0, "finishReason": "SAFETY", "safetyRatings": [rating]}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": MODEL}


def _calls(seen: Seen, turn: Turn) -> list[dict[str, Any]]:
    offered = _offered(seen.body)
    cwd = working_directory(seen.text)
    found = [native(call, offered, cwd) for call in turn.calls]
    return [
        {"functionCall": {"name": call[0], "args": call[1]}, "thoughtSignature": "c2lnbmVk"}
        for call in found
        if call is not None
    ]


def _whole(seen: Seen, turn: Turn) -> dict[str, Any]:
    if turn.kind is Kind.REFUSAL:
        return _refused()
    return _chunk([{"text": turn.say}, *_calls(seen, turn)], "STOP")


def _stream(seen: Seen, turn: Turn) -> Iterator[Part]:
    if turn.kind is Kind.REFUSAL:
        yield sse(_refused())
        return
    if turn.think:
        yield sse(_chunk([{"text": "**Plan**\n" + turn.think, "thought": True}]))
    for piece in words(turn):
        yield piece if isinstance(piece, (Pause, Cut)) else sse(_chunk([{"text": piece}]))
    yield sse(_chunk(_calls(seen, turn) or [{"text": ""}], "STOP"))
