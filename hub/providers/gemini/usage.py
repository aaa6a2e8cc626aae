"""Gemini's token counts.

Owns: the usage events of a turn.
Must not: price anything, or add turns up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hub.domain.event import Event, EventType
from hub.providers import jsonline


def usage_events(result: Mapping[str, Any], model: str) -> list[Event]:
    """One usage event for each model of a turn; ACP tells no cached tokens."""
    quota = jsonline.mapping(jsonline.mapping(result.get("_meta")).get("quota"))
    models = [jsonline.mapping(entry) for entry in jsonline.items(quota.get("model_usage"))]
    events = []
    for entry in models or [quota]:
        counts = jsonline.mapping(entry.get("token_count"))
        tokens_in = jsonline.count(counts.get("input_tokens"))
        tokens_out = jsonline.count(counts.get("output_tokens"))
        if tokens_in or tokens_out:
            meta = {"tokensIn": tokens_in, "tokensOut": tokens_out}
            meta_model = jsonline.text(entry.get("model")) or model
            said = f"{tokens_in} tokens in, {tokens_out} out"
            events.append(Event(EventType.USAGE, said, {**meta, "model": meta_model}))
    return events
