"""The line of a quota window as SVG: what was told of it, where it will cross, and when it begins anew.

Owns: the picture and its words.
Must not: forecast.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from markupsafe import Markup

from hub.api.quota import MeteredWindow, Window
from hub.domain.wallclock import local
from hub.web.page.picture import number, svg
from hub.web.page.words import clock, minutes, percent

_SIZES = (("wide", 760.0), ("narrow", 300.0))
"""A picture for each kind of screen, about as wide as it is drawn: letters do not shrink and grow with it."""
_HEIGHT, _TOP, _LEFT = 170.0, 10.0, 44.0
_MINUTE = 60
_SHORTEST = 10 * _MINUTE
_AHEAD = 6 * 60 * _MINUTE
"""Seconds: a reset that is farther off is said and not drawn."""


@attrs.frozen
class Point:
    """What was used at a time."""

    at: float
    share: float


@attrs.frozen
class _Scale:
    first: float
    last: float
    width: float

    def x(self, at: float) -> float:
        return _LEFT + (at - self.first) / (self.last - self.first) * (self.width - _LEFT - 4)

    def y(self, share: float) -> float:
        return _TOP + (1 - share) * (_HEIGHT - _TOP - 20)


def burn(window: MeteredWindow, now: float) -> tuple[Markup, ...]:
    """The picture for a wide and for a narrow screen; nothing where nobody has told how much is used."""
    if window.fraction_used is None:
        return tuple(Markup("") for _ in _SIZES)
    return tuple(_drawn(window, now, kind, width) for kind, width in _SIZES)


def _drawn(window: MeteredWindow, now: float, kind: str, width: float) -> Markup:
    used = min(1.0, max(0.0, window.fraction_used or 0.0))
    read = local(window.read_at).timestamp() if window.read_at else now
    rises = (Point(local(one.at).timestamp(), min(1.0, one.fraction_used)) for one in window.rises)
    told = [*(point for point in rises if point.at < read), Point(read, used), Point(now, used)]
    reset = local(window.resets_at).timestamp() if window.resets_at else None
    walls = [
        now + eta * _MINUTE
        for eta in (window.eta_low_minutes, window.eta_minutes, window.eta_high_minutes)
        if eta is not None
    ]
    ends = [at for at in (*walls, reset) if at is not None and now < at < now + _AHEAD]
    scale = _Scale(min(told[0].at, now - _SHORTEST), max([now + _SHORTEST, *ends]), width)
    parts = [*_axes(scale, now), _line("burn", told, scale)]
    if window.eta_minutes is not None:
        parts += _projected(window, told[-1], now, scale)
    if reset is not None and reset <= scale.last:
        parts += [
            _upright(scale.x(reset), "reset"),
            _text(scale.x(reset) - 4, _HEIGHT - 24, f"reset {clock(reset)}", "end"),
        ]
    return svg(words_of(window), width, _HEIGHT, parts, f"chart {kind}")


def words_of(window: Window) -> str:
    """What the picture says."""
    told = [f"{window.window.replace('_', ' ')}: {percent(window.fraction_used)} used"]
    if window.eta_minutes is not None:
        told.append(f"the wall is expected in {minutes(window.eta_minutes)}")
    if window.resets_at:
        told.append(f"it begins anew at {clock(window.resets_at)}")
    return ", ".join(told)


def _projected(window: Window, last: Point, now: float, scale: _Scale) -> list[Markup]:
    wall = min(scale.last, now + (window.eta_minutes or 0.0) * _MINUTE)
    parts = [_line("projected", [last, Point(wall, 1.0)], scale)]
    if window.eta_low_minutes is not None and window.eta_high_minutes is not None:
        low, high = (
            min(scale.last, now + eta * _MINUTE) for eta in (window.eta_low_minutes, window.eta_high_minutes)
        )
        corners = [(last.at, last.share), (low, 1.0), (high, 1.0)]
        points = " ".join(f"{number(scale.x(at))},{number(scale.y(share))}" for at, share in corners)
        parts.insert(0, Markup('<polygon class="band" points="{}"/>').format(points))
    return parts


def _axes(scale: _Scale, now: float) -> list[Markup]:
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = scale.y(share)
        parts += [
            Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                "wall" if share == 1 else "grid", number(_LEFT), number(scale.width), number(y), number(y)
            ),
            _text(_LEFT - 6, y + 4, percent(share), "end"),
        ]
    here = max(_LEFT + 26, min(scale.width - 30, scale.x(now)))
    parts += [_upright(scale.x(now), "now"), _text(here, _HEIGHT - 4, f"now {clock(now)}", "middle")]
    return parts


def _line(kind: str, points: Sequence[Point], scale: _Scale) -> Markup:
    drawn = " ".join(f"{number(scale.x(point.at))},{number(scale.y(point.share))}" for point in points)
    return Markup('<polyline class="{}" points="{}"/>').format(kind, drawn)


def _upright(x: float, kind: str) -> Markup:
    return Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
        kind, number(x), number(x), number(_TOP), number(_HEIGHT - 20)
    )


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        number(x), number(y), anchor, words
    )
