"""A typesetter's signs as a keyboard has them.

Owns: which sign means the same as a plain one, for whoever looks for words in a text.
Must not: touch a dash: it parts clauses, as no hyphen does.
"""

from __future__ import annotations

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2212", "-"),
        **dict.fromkeys(("\u00a0", *map(chr, range(0x2000, 0x200B)), "\u202f", "\u205f", "\u3000"), " "),
    }
)


def typed(text: str) -> str:
    """`text` with plain quotation marks, hyphens and blanks; as long as it was."""
    return text if text.isascii() else text.translate(_SIGNS)
