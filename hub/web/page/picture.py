"""Small pictures as SVG: a quota's bar, the states of a handoff.

Owns: their shapes. Colours are classes of the style sheet; every picture says in words what it shows.
Must not: ask for anything, or hold a script or a style.
Tests: tests/hub/web/page/test_picture.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from hub.api.history import Walk
from hub.domain.text.figures import span
from hub.web.page.words import percent

_WIDTH = 100.0


def svg(
    words: str, width: float, height: float, parts: Iterable[Markup], kind: str, *, stretched: bool = False
) -> Markup:
    """A picture with its words; one that is stretched holds no letters."""
    return Markup(
        '<svg class="picture {}" role="img" aria-label="{}" viewBox="0 0 {} {}" preserveAspectRatio="{}">'
        "<title>{}</title>{}</svg>"
    ).format(
        kind,
        words,
        number(width),
        number(height),
        "none" if stretched else "xMinYMin",
        words,
        Markup("").join(parts),
    )


def number(value: float) -> str:
    """As SVG has it, short."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def rect(x: float, y: float, width: float, height: float, kind: str, *, words: str = "") -> Markup:
    """A rectangle, with words to be shown over it."""
    told = Markup("<title>{}</title>").format(words) if words else Markup("")
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}">{}</rect>').format(
        kind, number(x), number(y), number(max(0.0, width)), number(height), told
    )


def bar(share: float | None, threshold: float = 0.9) -> Markup:
    """How much of a quota is used; the mark is where hub may hand over."""
    if share is None:
        return svg(
            "not known how much is used",
            _WIDTH,
            4,
            [rect(0, 0, _WIDTH, 4, "track unknown")],
            "bar",
            stretched=True,
        )
    used = min(1.0, max(0.0, share))
    kind = "fill bad" if used >= 1 else "fill warn" if used >= threshold else "fill good"
    parts = [
        rect(0, 0, _WIDTH, 4, "track"),
        rect(0, 0, used * _WIDTH, 4, kind),
        rect(threshold * _WIDTH, 0, 0.6, 4, "mark"),
    ]
    return svg(f"{percent(share)} used", _WIDTH, 4, parts, "bar", stretched=True)


def share(part: float) -> Markup:
    """A part of all."""
    drawn = [rect(0, 0, _WIDTH, 4, "track"), rect(0, 0, min(1.0, max(0.0, part)) * _WIDTH, 4, "fill plain")]
    return svg(f"{percent(part)} of all", _WIDTH, 4, drawn, "bar", stretched=True)


def ribbon(walk: Walk) -> Markup:
    """The states of a handoff, each as long as the work stood in it."""
    stays = [
        (f"{stay.state.lower().replace('_', ' ')}: {milliseconds(stay.seconds)}", stay.seconds)
        for stay in walk.stays
    ]
    told = f"handoff from {walk.giver} to {walk.taker or 'the next agent'} in {milliseconds(walk.seconds)}"
    return stacked(told, stays)


def stacked(words: str, parts: Sequence[tuple[str, float]]) -> Markup:
    """The parts of a whole, each with its words and as wide as its share; the colours are `s0` to `s6` and then again."""
    total = sum(size for _, size in parts) or 1.0
    at, drawn = 0.0, []
    for place, (told, size) in enumerate(parts):
        width = max(1.0, size / total * _WIDTH)
        drawn.append(rect(at, 0, width, 6, f"state s{place % 7}", words=told))
        at += width
    return svg(words, max(at, _WIDTH), 6, drawn, "ribbon", stretched=True)


def milliseconds(seconds: float) -> str:
    """`420 ms`, or a span."""
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else span(seconds)  # noqa: PLR2004  # ten seconds
