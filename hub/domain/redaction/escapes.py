r"""Text in which quotes and signs stand as themselves, however a format writes them: `&quot;`, `\u0022`, `%22`, `“`.

Owns: which spellings mean a sign that stands around a name and its value, and what only colours a text (`\u001b[32m`).
Must not: change how long a text is, or touch a letter that may be a value's own.

What is found in such a text stands at the same place in the text itself: blanks fill it up. A sign that is part of a
value parts it here, so the text itself is looked at as well (`redactor`).
"""

from __future__ import annotations

import re

from hub.domain.text.patterns import late

_SIGNS = {
    **dict.fromkeys(("&quot;", "&#34;", "&#x22;", r"\u0022", r"\x22"), '"'),
    **dict.fromkeys(("&apos;", "&#39;", "&#x27;", "&#039;", r"\u0027", r"\x27"), "'"),
    **dict.fromkeys(("&amp;", r"\u0026"), "&"),
    **dict.fromkeys(("&lt;", r"\u003c", r"\u003C"), "<"),
    **dict.fromkeys(("&gt;", r"\u003e", r"\u003E"), ">"),
    **dict.fromkeys((r"\u003d", r"\u003D"), "="),
    **dict.fromkeys(("%22%3A%22", "%22%3a%22"), '":"'),
    **dict.fromkeys(("%22%3A%20%22", "%22%3a%20%22", "%22%3A+%22"), '": "'),
}
_COLOUR = r"\\(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,16}m"
_ESCAPE = late("|".join((_COLOUR, *map(re.escape, _SIGNS))))
_SET = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
    **dict(zip("\u2502\u2503\u2551\u2192\u21d2\uff1a\uff1d", "|||>>:=", strict=True)),
}
"""A typesetter's quotes, the lines of a table, arrows, and the signs of wide writing."""
_COLOURS = (r"\u001b[", r"\u001B[", r"\x1b[", r"\x1B[", r"\033[", r"\e[")
_BEGUN = frozenset(sign[:size] for sign in (*_SIGNS, *_COLOURS) for size in range(1, len(sign)))
_COLOUR_BEGUN = late(_COLOUR.removesuffix("m") + r"\Z")
_FIRST = late(r"[\\&%]")
_LONGEST = 24
"""No beginning of a sign is longer."""


def unescaped(text: str) -> str:
    """`text` with plain signs, as long as it was; the same object where there is nothing to do."""
    if not text.isascii():
        for sign, plain in _SET.items():  # ten times as fast as a pattern
            text = text.replace(sign, plain)
    if "\\" in text or "&" in text or "%22" in text:
        return _ESCAPE().sub(_plain, text)
    return text


def _plain(found: re.Match[str]) -> str:
    return _SIGNS.get(found[0], "").rjust(len(found[0]))


def cut_off(text: str) -> int:
    """Where the sign begins that the end of `text` cuts off; else its end."""
    low = max(0, len(text) - _LONGEST)
    for place in (low + found.start() for found in _FIRST().finditer(text[low:])):
        end = text[place:]
        if end in _BEGUN or _COLOUR_BEGUN().match(end):
            return place
    return len(text)
