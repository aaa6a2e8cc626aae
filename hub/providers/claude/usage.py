"""What Claude Code used: tokens, money, quota windows.

Owns: `Usage`, the fold over its token and cost figures, and the quota events.
Must not: price anything (the program tells its own cost).

`tokensIn` counts every input token of the turn, those read from and written to the cache included; `cachedIn`
is the part read from the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hub.domain.event import Event, EventType
from hub.providers import jsonline


class Usage:
    """Tokens and cost, turn by turn."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, int, int]] = {}
        self._model = ""

    def message(self, inner: Mapping[str, Any]) -> None:
        """Notes the start values of an assistant message, which comes in several lines with one id."""
        usage = jsonline.mapping(inner.get("usage"))
        cached = jsonline.count(usage.get("cache_read_input_tokens"))
        fresh = jsonline.count(usage.get("input_tokens")) + jsonline.count(
            usage.get("cache_creation_input_tokens")
        )
        self._open[jsonline.text(inner.get("id"))] = (
            fresh + cached,
            jsonline.count(usage.get("output_tokens")),
            cached,
        )
        self._model = jsonline.text(inner.get("model")) or self._model

    def turn(self, result: Mapping[str, Any]) -> list[Event]:
        """The usage event of a finished turn; none where nothing was used."""
        self._open.clear()
        models = jsonline.mapping(result.get("model_usage_since_last_result"))
        if models:
            return self._of_models(models)
        usage = jsonline.mapping(result.get("usage"))
        cached = jsonline.count(usage.get("cache_read_input_tokens"))
        fresh = jsonline.count(usage.get("input_tokens")) + jsonline.count(
            usage.get("cache_creation_input_tokens")
        )
        out = jsonline.count(usage.get("output_tokens"))
        meta = {"tokensIn": fresh + cached, "tokensOut": out, "cachedIn": cached, "model": self._model}
        return [_event(meta)] if fresh + cached + out else []

    def _of_models(self, models: Mapping[str, Any]) -> list[Event]:
        events = []
        for model, figures in models.items():
            used = jsonline.mapping(figures)
            cached = jsonline.count(used.get("cacheReadInputTokens"))
            fresh = jsonline.count(used.get("inputTokens")) + jsonline.count(
                used.get("cacheCreationInputTokens")
            )
            cost = jsonline.number(used.get("costUSD")) or 0.0
            meta = {
                "tokensIn": fresh + cached,
                "tokensOut": jsonline.count(used.get("outputTokens")),
                "cachedIn": cached,
                "costUsdMicros": max(0, round(cost * 1_000_000)),
                "model": jsonline.clean(model),
            }
            events.append(_event(meta))
        return events

    def unfinished(self) -> list[Event]:
        """Usage of messages that no result told of: a lower bound, for a run that was killed."""
        if not self._open:
            return []
        tokens_in, tokens_out, cached = (sum(column) for column in zip(*self._open.values(), strict=True))
        self._open.clear()
        meta = {"tokensIn": tokens_in, "tokensOut": tokens_out, "cachedIn": cached, "model": self._model}
        return [_event({**meta, "lowerBound": True})]


def _event(meta: dict[str, Any]) -> Event:
    return Event(EventType.USAGE, f"{meta['tokensIn']} tokens in, {meta['tokensOut']} out", meta)


def quota_events(info: Mapping[str, Any]) -> list[Event]:
    """One event for each quota window of a `rate_limit_info`."""
    name = jsonline.text(info.get("rateLimitType"))
    windows = jsonline.mapping(info.get("unifiedWindows")) or {name: info}
    found = (_window(jsonline.clean(window), jsonline.mapping(state)) for window, state in windows.items())
    return [event for event in found if event is not None]


def _window(name: str, state: Mapping[str, Any]) -> Event | None:
    status = jsonline.text(state.get("status"))
    used = jsonline.number(state.get("utilization"))
    if used is None and status == "rejected":
        used = 1.0
    if used is None or not name:
        return None
    # The stream tells 0..1; a little over is possible while overage is granted.
    per_mille = max(0, round(used * 1000))
    meta: dict[str, Any] = {"used": per_mille, "window": name, "status": status}
    if (resets_at := jsonline.integer(state.get("resetsAt"))) is not None:
        meta["resetsAt"] = resets_at
    return Event(EventType.QUOTA, f"{name}: {per_mille / 10:g} % used", meta)
