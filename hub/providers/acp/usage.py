"""Token counts as agents tell them over ACP.

Owns: the usage events of a turn.
Must not: price anything, or add turns up.

Two forms are in use: the protocol's own `usage` of a turn's answer, and Gemini's `_meta.quota`, one count a model.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta
from hub.providers import jsonline


def usage_events(result: Mapping[str, object], model: str) -> list[Event]:
    """One usage event for each model of a turn; none where the agent tells none."""
    if own := usage_event(jsonline.mapping(result.get("usage")), model):
        return [own]
    quota = jsonline.mapping(jsonline.mapping(result.get("_meta")).get("quota"))
    models = [jsonline.mapping(entry) for entry in jsonline.items(quota.get("model_usage"))]
    events = []
    for entry in models or [quota]:
        counts = jsonline.mapping(entry.get("token_count"))
        named = {"inputTokens": counts.get("input_tokens"), "outputTokens": counts.get("output_tokens")}
        event = usage_event(named, jsonline.text(entry.get("model")) or model)
        events += [event] if event else []
    return events


def usage_event(counts: Mapping[str, object], model: str) -> Event | None:
    """The event of one count in the protocol's own names; None for an empty one."""
    tokens_in = jsonline.count(counts.get("inputTokens"))
    tokens_out = jsonline.count(counts.get("outputTokens"))
    if not tokens_in and not tokens_out:
        return None
    meta: EventMeta = {"tokensIn": tokens_in, "tokensOut": tokens_out, "model": model}
    if cached := jsonline.count(counts.get("cachedReadTokens")):
        meta["cachedIn"] = cached
    return Event(EventType.USAGE, f"{tokens_in} tokens in, {tokens_out} out", meta)
