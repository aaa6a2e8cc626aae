"""Patterns of two signs, `*` and `?`, as rules have them, and what a shell's own patterns and open ends are in them.

Owns: whether a text fits a pattern, and whether some text fits two, in bounded time.
Must not: know a rule, a command or a file.

Tests: tests/hub/domain/permission/test_rules.py
"""

from __future__ import annotations

import re
from functools import lru_cache

from hub.domain.permission.quoting import HOLE

_CLASS = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\[\]]*[:.=]\]|[^\]])*\]")
"""One letter of several: `[abc]`, `[!]x]`, `[[:alpha:]_]`."""
_SIGNS = re.compile(rf"[*?\[{HOLE}]")
_LONGEST, _MOST_SIGNS = 4_096, 32
WITHIN = "\ue0ff"
"""Any text without a slash: what `*` is to a shell."""


def globbed(word: str) -> str:
    """A shell's pattern in the signs of a rule."""
    head, end, rest = word.rpartition("]")  # behind the last of these no `[` is more than a letter
    word = _CLASS.sub("?", head + end) + rest
    return re.sub(r"\*+", lambda stars: "*" if len(stars[0]) > 1 else WITHIN, word)


def guessed(form: str) -> str:
    """The form with a sign for whatever stands in its holes."""
    return globbed(form).replace(HOLE, "*")


def endless(form: str) -> bool:
    """Whether a command may be so much that it is asked about unread: what it fits would take seconds to say."""
    return len(form) > _LONGEST or len(_SIGNS.findall(form)) > _MOST_SIGNS


def like(pattern: str, text: str) -> bool:
    """Whether a text fits a pattern with * and ?; "" is every text."""
    return not pattern or _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """What stands between two `*` is taken where it is found first and never looked for again: the time is bounded."""
    first, *others = (re.escape(part).replace(r"\?", ".") for part in re.sub(r"\*+", "*", pattern).split("*"))
    between = "".join(f"(?>.*?{part})" for part in others[:-1])
    return re.compile(first + between + "".join(f".*{part}" for part in others[-1:]), re.DOTALL)


@lru_cache(maxsize=4096)
def overlap(one: str, other: str) -> bool:
    """Whether there is a text that fits both patterns; only the first may be a shell's (`globbed`).

    A name that a shell finds is taken for none that begins with a dash: `rm *.o` is no `rm -r *`.
    """
    waiting, seen = [(0, 0)], set[tuple[int, int]]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        i, j = place
        if i == len(one) and j == len(other):
            return True
        a, b = one[i : i + 1], other[j : j + 1]
        if a == "*":
            waiting += [(i + 1, j), (i, j + 1)] if b else [(i + 1, j)]
        elif b == "*":
            waiting += [(i, j + 1), (i + 1, j)] if a else [(i, j + 1)]
        elif a == WITHIN:  # a text without a slash
            option = b == "-" and one[i - 1 : i] == " " and other[j - 1 : j] == " "
            waiting += [(i + 1, j), (i, j + 1)] if b and b != "/" and not option else [(i + 1, j)]
        elif a and b and (a == b or "?" in (a, b)):
            waiting.append((i + 1, j + 1))
    return False


def found_as(form: str, pattern: str) -> bool:
    """Whether a command whose program a shell finds may be one of a pattern; the name it finds has no blank."""
    program, blank, rest = globbed(form).partition(" ")
    head, _, tail = pattern.partition(" ")
    if "*" in head:
        return overlap(program + blank + rest, pattern)
    return overlap(program, head) and overlap(rest, tail)
