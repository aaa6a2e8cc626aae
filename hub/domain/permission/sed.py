"""The scripts of `sed`: which of its words are none of files, and which of them only change what passes.

Owns: reading such a script as far as it is made of replacements and plain commands.
Must not: know a rule, or another program.
Tests: tests/hub/domain/permission/test_unread.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

SEDS = frozenset({"sed", "gsed"})
REPLACES = re.compile(r"[sy]([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1([a-zA-Z0-9]*)", re.DOTALL)
_FOUND = re.compile(r"/(?:\\.|[^/\\\n])*/I?|\\([^\w\s])(?:(?!\1).)*\1I?")
_SCRIPT = re.compile(r"-[nrEsuz]*e(.*)|--e[a-z]*(?:=(.*))?", re.DOTALL)
_PLAIN = re.compile(r"[\d$,;!~+{}\s=pPdDnNgGhHxqQzl]*|[\d$,\s]*[aic]\\?\s?[^\n]*")
_WRITES = re.compile(r"[ewEW]")


def edits_of(rest: Sequence[str]) -> list[str]:
    """What of its words tells `sed` what to do."""
    found = []
    for word, after in pairwise((*rest, "")):
        if told := _SCRIPT.fullmatch(word):
            found.append(told[1] or told[2] or after)
    return found or [word for word in rest if not word.startswith("-")][:1]


def edits(script: str) -> bool:
    """Whether a script of `sed` only changes what passes: it runs no command and writes no file."""
    if any(_WRITES.search(flags) for _, flags in REPLACES.findall(script)):
        return False
    left = _FOUND.sub("", REPLACES.sub("", script))
    return _PLAIN.fullmatch(left) is not None
