"""Patterns of two signs, `*` and `?`, as rules have them, and what a shell's own patterns and open ends are in them.

Owns: whether a text fits a pattern, and whether some text fits two.
Must not: know a rule, a command or a file.

Tests: tests/hub/domain/permission/test_rules.py
"""

from __future__ import annotations

import re
from functools import lru_cache

from hub.domain.permission.shellword import HOLE

_CLASS = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\[\]]*[:.=]\]|[^\]])*\]")
"""One letter of several: `[abc]`, `[!]x]`, `[[:alpha:]_]`."""
_WITHIN = "\ue0ff"
"""Any text without a slash: what `*` is to a shell."""


def globbed(word: str) -> str:
    """A shell's pattern in the signs of a rule."""
    return re.sub(r"\*+", lambda stars: "*" if len(stars[0]) > 1 else _WITHIN, _CLASS.sub("?", word))


def guessed(form: str) -> str:
    """The form with a sign for whatever stands in its holes."""
    return globbed(form).replace(HOLE, "*")


def like(pattern: str, text: str) -> bool:
    """Whether a text fits a pattern with * and ?; "" is every text."""
    return not pattern or _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(
        "".join(
            {"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in re.sub(r"\*+", "*", pattern)
        ),
        re.DOTALL,
    )


@lru_cache(maxsize=4096)
def overlap(one: str, other: str) -> bool:
    """Whether there is a text that fits both patterns; only the first may be a shell's (`globbed`).

    A name that a shell finds is taken for none that begins with a dash: `rm *.o` is no `rm -r *`.
    """
    places = {(0, 0)}
    while places:
        following: set[tuple[int, int]] = set()
        for i, j in places:
            if i == len(one) and j == len(other):
                return True
            a, b = one[i : i + 1], other[j : j + 1]
            if a == "*":
                following |= {(i + 1, j)} | ({(i, j + 1)} if b else set())
            elif b == "*":
                following |= {(i, j + 1)} | ({(i + 1, j)} if a else set())
            elif a == _WITHIN:  # a text without a slash
                option = b == "-" and one[i - 1 : i] == " " and other[j - 1 : j] == " "
                following |= {(i + 1, j)} | ({(i, j + 1)} if b and b != "/" and not option else set())
            elif a and b and (a == b or "?" in (a, b)):
                following.add((i + 1, j + 1))
        places = following
    return False
