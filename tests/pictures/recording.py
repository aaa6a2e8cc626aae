"""A terminal's screens, one after the other, as one moving picture: SVG, without a script.

Owns: how the screens of a run become a drawing.
Must not: make up a screen.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from rich.color import ColorTriplet
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

_WIDE, _HIGH, _MARGIN = 8.4, 18.0, 14.0
_LAST = 6.0
"""Seconds that the last screen stays."""


def recorded(screens: Sequence[tuple[float, str]], columns: int, lines: int, title: str) -> str:
    """The picture. Each screen comes with its instant, in seconds; what stands still for long is shortened.

    A reader without animation sees the last screen.
    """
    console = Console(width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    stays = [min(1.6, max(0.25, after - at)) for (at, _), (after, _) in pairwise(screens)]
    starts = [sum(stays[:number]) for number in range(len(screens))]
    whole = starts[-1] + _LAST
    frames, rules = [], []
    for number, (start, (_, screen)) in enumerate(zip(starts, screens, strict=True)):
        end = starts[number + 1] if number + 1 < len(screens) else whole
        first, last = 100 * start / whole, 100 * end / whole
        rules.append(
            f"@keyframes k{number}{{0%{{visibility:hidden}}{first:.2f}%{{visibility:visible}}"
            f"{last:.2f}%{{visibility:{'visible' if end == whole else 'hidden'}}}}}"
            f"#f{number}{{animation:k{number} {whole:.1f}s step-end infinite}}"
        )
        shown = ' style="visibility:visible"' if end == whole else ""
        frames.append(f'<g id="f{number}" class="f"{shown}>{_screen(console, screen, lines)}</g>')
    width, height = columns * _WIDE + 2 * _MARGIN, lines * _HIGH + 2 * _MARGIN
    theme = SVG_EXPORT_THEME
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
        f"<title>{escape(title)}</title><style>.f{{visibility:hidden}}text{{font:14px monospace;white-space:pre;"
        f"fill:{theme.foreground_color.hex}}}.b{{font-weight:bold}}.i{{font-style:italic}}.d{{opacity:.6}}{''.join(rules)}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{theme.background_color.hex}"/>{"".join(frames)}</svg>\n'
    )


def _screen(console: Console, screen: str, lines: int) -> str:
    drawn = []
    for row, line in enumerate(screen.split("\n")[-lines:]):
        column = 0
        for segment in Text.from_ansi(line).render(console):
            text, style = segment.text.rstrip("\n"), segment.style
            if text.strip():
                names = (
                    "".join(
                        name for name, on in (("b", style.bold), ("i", style.italic), ("d", style.dim)) if on
                    )
                    if style
                    else ""
                )
                colour = style.color.get_truecolor(SVG_EXPORT_THEME) if style and style.color else None
                drawn.append(_word(text, column, row, " ".join(names), colour))
            column += len(text)
    return "".join(drawn)


def _word(text: str, column: int, row: int, names: str, colour: ColorTriplet | None) -> str:
    x, y = _MARGIN + column * _WIDE, _MARGIN + (row + 0.8) * _HIGH
    kind = f' class="{names}"' if names else ""
    fill = f' style="fill:{colour.hex}"' if colour else ""
    length = f' textLength="{len(text) * _WIDE:.1f}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{length}{kind}{fill}>{escape(text)}</text>'
