"""What Claude Code used: tokens, money, quota windows.

Owns: `ClaudeUsage`, the fold over its token and cost figures, and the quota events.
Must not: price anything (the program tells its own cost).

`tokensIn` counts every input token of the turn, those read from and written to the cache included; `cachedIn`
is the part read from the cache, `cacheWriteIn` the part written to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta
from hub.providers import jsonline


class ClaudeUsage:
    """Tokens and cost, turn by turn."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._told = dict.fromkeys(_FIGURES, 0)
        """Of the turn under way."""
        self._model = ""

    def message(self, inner: Mapping[str, object]) -> list[Event]:
        """The start values of an assistant message, which comes in several lines with one id: what the turn used so far.

        A lower bound: the turn's result tells the rest, or nothing does where the run was killed.
        """
        self._model = jsonline.text(inner.get("model")) or self._model
        name = jsonline.text(inner.get("id"))
        found = _tokens(jsonline.mapping(inner.get("usage")), _SNAKE)
        if name in self._seen or not any(found.values()):
            return []
        self._seen.add(name)
        self._told = {figure: count + found[figure] for figure, count in self._told.items()}
        return [_event(found, {"model": jsonline.clean(self._model), "lowerBound": True})]

    def turn(self, result: Mapping[str, object]) -> list[Event]:
        """What a finished turn used beyond what was told of it, and what it cost in all; none where that is nothing."""
        models = jsonline.mapping(result.get("model_usage_since_last_result"))
        told = {model: _of_model(jsonline.mapping(figures)) for model, figures in models.items()}
        if not told:
            told = {self._model: _tokens(jsonline.mapping(result.get("usage")), _SNAKE)}
        events = [
            _event({**figures, **self._rest(figures)}, {"model": jsonline.clean(model)})
            for model, figures in told.items()
            if any(figures.values())
        ]
        self._seen.clear()
        self._told = dict.fromkeys(_FIGURES, 0)
        return events

    def _rest(self, figures: Mapping[str, int]) -> dict[str, int]:
        """The figures without what was told already, by whatever name of the model."""
        rest = {name: max(0, figures[name] - self._told[name]) for name in _FIGURES}
        self._told = {name: self._told[name] - (figures[name] - rest[name]) for name in _FIGURES}
        return rest


_FIGURES = ("tokensIn", "tokensOut", "cachedIn", "cacheWriteIn")
_SNAKE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CAMEL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def _tokens(usage: Mapping[str, object], names: tuple[str, str, str, str]) -> dict[str, int]:
    fresh, out, read, written = (jsonline.count(usage.get(name)) for name in names)
    return {"tokensIn": fresh + read + written, "tokensOut": out, "cachedIn": read, "cacheWriteIn": written}


def _of_model(used: Mapping[str, object]) -> dict[str, int]:
    found = _tokens(used, _CAMEL)
    # A model the program has no price for costs 0 there: that is no figure.
    micros = round((jsonline.number(used.get("costUSD")) or 0.0) * 1_000_000)
    return {**found, "costUsdMicros": micros} if micros > 0 else found


def _event(figures: Mapping[str, int], more: EventMeta) -> Event:
    meta: EventMeta = {
        "tokensIn": figures["tokensIn"],
        "tokensOut": figures["tokensOut"],
        "cachedIn": figures["cachedIn"],
        "cacheWriteIn": figures["cacheWriteIn"],
    }
    if "costUsdMicros" in figures:
        meta["costUsdMicros"] = figures["costUsdMicros"]
    return Event(EventType.USAGE, f"{meta['tokensIn']} tokens in, {meta['tokensOut']} out", {**meta, **more})


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
    meta: EventMeta = {"used": per_mille, "window": name, "status": status}
    if (resets_at := jsonline.instant(state.get("resetsAt"))) is not None:
        meta["resetsAt"] = int(resets_at)
    return Event(EventType.QUOTA, f"{name}: {per_mille / 10:g} % used", meta)
