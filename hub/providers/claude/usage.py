"""What Claude Code used: tokens, money, quota windows.

Owns: `ClaudeUsage`, the fold over its token and cost figures, and the quota events.
Must not: price anything (the program tells its own cost).

`tokensIn` counts every input token of the turn, those read from and written to the cache included; `cachedIn`
is the part read from the cache, `cacheWriteIn` the part written to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.event import Event, EventType
from hub.providers import jsonline


class ClaudeUsage:
    """Tokens and cost, turn by turn."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, int]] = {}
        self._model = ""

    def message(self, inner: Mapping[str, object]) -> None:
        """Notes the start values of an assistant message, which comes in several lines with one id."""
        self._open[jsonline.text(inner.get("id"))] = _tokens(jsonline.mapping(inner.get("usage")), _SNAKE)
        self._model = jsonline.text(inner.get("model")) or self._model

    def turn(self, result: Mapping[str, object]) -> list[Event]:
        """The usage event of a finished turn; none where nothing was used."""
        self._open.clear()
        models = jsonline.mapping(result.get("model_usage_since_last_result"))
        if models:
            return [_of_model(model, jsonline.mapping(figures)) for model, figures in models.items()]
        meta = _tokens(jsonline.mapping(result.get("usage")), _SNAKE)
        return [_event({**meta, "model": self._model})] if meta["tokensIn"] + meta["tokensOut"] else []

    def unfinished(self) -> list[Event]:
        """Usage of messages that no result told of: a lower bound, for a run that was killed."""
        if not self._open:
            return []
        counts = {
            name: sum(one[name] for one in self._open.values()) for name in next(iter(self._open.values()))
        }
        self._open.clear()
        return [_event({**counts, "model": self._model, "lowerBound": True})]


_SNAKE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CAMEL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def _tokens(usage: Mapping[str, object], names: tuple[str, str, str, str]) -> dict[str, int]:
    fresh, out, read, written = (jsonline.count(usage.get(name)) for name in names)
    return {"tokensIn": fresh + read + written, "tokensOut": out, "cachedIn": read, "cacheWriteIn": written}


def _of_model(model: str, used: Mapping[str, object]) -> Event:
    meta: dict[str, object] = {**_tokens(used, _CAMEL), "model": jsonline.clean(model)}
    # A model the program has no price for costs 0 there: that is no figure.
    if micros := round((jsonline.number(used.get("costUSD")) or 0.0) * 1_000_000):
        meta["costUsdMicros"] = max(0, micros)
    return _event(meta)


def _event(meta: Mapping[str, object]) -> Event:
    return Event(EventType.USAGE, f"{meta['tokensIn']} tokens in, {meta['tokensOut']} out", meta)


def quota_events(info: Mapping[str, object]) -> list[Event]:
    """One event for each quota window of a `rate_limit_info`."""
    name = jsonline.text(info.get("rateLimitType"))
    windows = jsonline.mapping(info.get("unifiedWindows")) or {name: info}
    found = (_window(jsonline.clean(window), jsonline.mapping(state)) for window, state in windows.items())
    return [event for event in found if event is not None]


def _window(name: str, state: Mapping[str, object]) -> Event | None:
    status = jsonline.text(state.get("status"))
    used = jsonline.number(state.get("utilization"))
    if used is None and status == "rejected":
        used = 1.0
    if used is None or not name:
        return None
    # The stream tells 0..1; a little over is possible while overage is granted.
    per_mille = max(0, round(used * 1000))
    meta: dict[str, object] = {"used": per_mille, "window": name, "status": status}
    if (resets_at := jsonline.integer(state.get("resetsAt"))) is not None:
        meta["resetsAt"] = resets_at
    return Event(EventType.QUOTA, f"{name}: {per_mille / 10:g} % used", meta)
