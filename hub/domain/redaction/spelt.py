r"""Text whose letters are written by their numbers, read: `%73%6b`, `\x73\x6b`, `\u0073`, `\163`, `&#115;`, `&quot;`.

Owns: which spellings stand for a letter of ASCII, and where each letter of what is read stands in the text.
Must not: know a value.
"""

from __future__ import annotations

import bisect
import re

from hub.domain.text.patterns import late

_NAMED = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}
_LETTER = late(
    r"%([2-7][0-9A-Fa-f])|\\(?:x([2-7][0-9A-Fa-f])|u00([2-7][0-9A-Fa-f])|u\{([2-7][0-9A-Fa-f])\}|([01][0-7][0-7]))"
    r"|&(?:#([0-9]{2,3})|#[xX]([2-7][0-9A-Fa-f])|(quot|amp|lt|gt|apos));"
)
_BEGUN = late(
    r"(?:%[2-7]?|\\(?:x[2-7]?|u(?:0{0,2}|00[2-7]|\{[2-7]?[0-9A-Fa-f]?)|[01][0-7]?)?|&(?:#[0-9]{0,3}|#[xX][2-7]?[0-9A-Fa-f]?|[a-z]{0,4}))\Z"
)
_LONGEST = 8
"""Letters of the longest spelling."""
_DECIMAL = 6
"""The group of a number that is not in hex."""


def may_be_spelt(text: str) -> bool:
    """Whether any letter of a text may be: most have no sign of it."""
    return "%" in text or "\\" in text or "&" in text


class Spelt:
    """A text as it is read.

    Attributes:
        view: What it says, up to there.
        open: Where a spelling begins that the end of the text cuts off; else its end.
    """

    def __init__(self, text: str) -> None:
        low = max(0, len(text) - _LONGEST)
        begun = _BEGUN().search(text, low)
        self.open = begun.start() if begun else len(text)
        self._views, self._texts = [0], [0]
        pieces: list[str] = []
        done = size = 0
        text = text[: self.open]
        for found in _LETTER().finditer(text):
            size += found.start() - done + 1
            pieces += (text[done : found.start()], _letter(found))
            done = found.end()
            self._views += (size - 1, size)
            self._texts += (found.start(), done)
        self.view = "".join((*pieces, text[done:]))

    def place(self, at: int) -> int:
        """The place in the text of a place in the view."""
        piece = bisect.bisect_right(self._views, at) - 1
        return self._texts[piece] + at - self._views[piece]


def _letter(found: re.Match[str]) -> str:
    group = found.lastindex or 0
    told = found[group]
    if told in _NAMED:
        return _NAMED[told]
    base = 10 if group == _DECIMAL else 8 if found[5] else 16
    code = int(told, base)
    return chr(code) if code < 0x80 else "\0"  # noqa: PLR2004  # of ASCII alone
