"""What a source file declares: the symbols it defines, and what it imports.

Owns: that both are found in one look at its strings and comments.
Must not: know a language (each has a table), read a file, or take more than linear time.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from hub.domain.code.imports import FIND, MAX_IMPORTS, names
from hub.domain.code.symbol import MAX_SYMBOLS, Symbol, numbered, outside
from hub.domain.code.table import LANGUAGES

_BOM = b"\xef\xbb\xbf"


class Declared(NamedTuple):
    """What one file declares."""

    symbols: list[Symbol]
    """At the top level, in order; a name that is defined twice is there twice."""
    imports: list[str]
    """Each once, in order."""


def declared(language: str, body: bytes) -> Declared:
    """What a file declares. Never raises on any bytes. Time is linear in the size of `body`.

    Args:
        language: As `language_of` calls it; nothing is declared in one that it does not know.
        body: The file.
    """
    table = LANGUAGES.get(language)
    if table is None:
        return Declared([], [])
    text = b"\n" + body.removeprefix(_BOM)
    defined = list(islice(table.find(text), MAX_SYMBOLS))
    used = list(islice(FIND[language](text), MAX_IMPORTS))
    both = sorted(defined + used)
    kept = outside(table, text, both)
    if kept is not both:
        there = set(kept)
        defined, used = ([each for each in some if each in there] for some in (defined, used))
    return Declared(numbered(text, defined), names(used))
