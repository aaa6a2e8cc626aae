"""Codex's quota windows and token counts.

Owns: `Windows`, the fold over `account/rateLimits/updated`, and the usage event of a step.
Must not: read texts; they tell the reset worse than the windows do.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.domain.quota.window import FULL
from hub.providers import jsonline

_SETTLED = 60
"""A reset that moves by fewer seconds than this is the same reset: some servers count it anew each time."""
_NAMES: Mapping[int, str] = {
    1: "minute",
    60: "hour",
    300: "five_hour",
    1440: "day",
    10_080: "seven_day",
    43_200: "thirty_day",
}
_USUAL = "codex"


@attrs.frozen
class _Window:
    used: int
    resets_at: float | None


class Windows:
    """The newest state of every quota window."""

    def __init__(self) -> None:
        self._windows: dict[str, _Window] = {}
        self._told: set[str] = set()
        """Those of the limit that was told of last: the one that a request runs into is told of just before."""

    def update(self, limits: Mapping[str, object]) -> list[Event]:
        """One event for each window that has changed."""
        limit = jsonline.text(limits.get("limitId"))
        events = []
        told: set[str] = set()
        for slot in ("primary", "secondary"):
            state = jsonline.mapping(limits.get(slot))
            percent = jsonline.number(state.get("usedPercent"))
            if percent is None:
                continue
            name = window_name(slot, jsonline.integer(state.get("windowDurationMins")), limit)
            window = _Window(max(0, round(percent * 10)), jsonline.instant(state.get("resetsAt")))
            before = self._windows.get(name)
            self._windows[name] = window
            told.add(name)
            if before is None or _changed(before, window):
                events.append(_event(name, window))
        self._told = told or self._told
        return events

    def better(self, failure: Failure, now: float) -> Failure:
        """The failure with the exact reset: of all used-up windows of its limit the one that comes back last.

        Where none of its own is used up, those of the others count. Any other failure than a usage limit, and a limit
        without a used-up window, comes back as it is.
        """
        if failure.kind is not FailureClass.USAGE_LIMIT:
            return failure
        full = [
            (name in self._told, window.resets_at, name)
            for name, window in self._windows.items()
            if window.used >= FULL and window.resets_at is not None and window.resets_at > now
        ]
        if not full:
            return failure
        _, resets_at, name = max(full)
        return attrs.evolve(failure, resets_at=resets_at, window=name)


def usage_event(tokens: Mapping[str, object], model: str) -> Event | None:
    """The usage event of a step; None where nothing was used."""
    meta: EventMeta = {
        "tokensIn": jsonline.count(tokens.get("inputTokens")),
        "tokensOut": jsonline.count(tokens.get("outputTokens")),
        "cachedIn": jsonline.count(tokens.get("cachedInputTokens")),
        "cacheWriteIn": jsonline.count(tokens.get("cacheWriteInputTokens")),
    }
    if not any(meta.values()):
        return None
    meta["request"] = True
    if model:
        meta["model"] = model
    return Event(EventType.USAGE, f"{meta['tokensIn']} tokens in, {meta['tokensOut']} out", meta)


def window_name(slot: str, minutes: int | None, limit: str = "") -> str:
    """The name of a window of so many minutes; with that of its limit, where it is another than the usual one."""
    name = slot if minutes is None else _NAMES.get(minutes, f"{minutes}_minutes")
    return f"{limit}:{name}" if limit and limit != _USUAL else name


def _changed(before: _Window, after: _Window) -> bool:
    moved = abs((before.resets_at or 0) - (after.resets_at or 0))
    return before.used != after.used or moved >= _SETTLED


def _event(name: str, window: _Window) -> Event:
    meta: EventMeta = {"used": window.used, "window": name}
    if window.resets_at is not None:
        meta["resetsAt"] = int(window.resets_at)
    return Event(EventType.QUOTA, f"{name}: {window.used / 10:g} % used", meta)
