"""The languages that are read, how a file's is known, and what a file declares: what it defines, and what it imports.

Owns: the list, the choice by name, and that both are found in one look at a file's strings and comments.
Must not: read a file, or take more than linear time.
Tests: tests/hub/domain/code/test_table.py, tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from itertools import islice

import attrs

from hub.domain.code.ecmascript import JAVASCRIPT, TYPESCRIPT
from hub.domain.code.go import GO
from hub.domain.code.imports import FIND, MAX_IMPORTS, names
from hub.domain.code.language import APOSTROPHES, COMMENT, LINE, QUOTED, Language, by_pattern, by_tokens
from hub.domain.code.python import PYTHON
from hub.domain.code.ruby import RUBY
from hub.domain.code.rust import RUST
from hub.domain.code.symbol import MAX_SYMBOLS, Symbol, numbered, outside
from hub.domain.text.patterns import late

_NAME = rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+"
_DEFINITION = late(
    LINE + rb"(?:(?>(?:@(?!interface\b)[\w.]++(?:[ \t]*+\((?>(?:[^()\n]|\([^()\n]*+\))*)\))?"
    rb"|/\*[^*\n]*+\*/"  # as in `/* package */ class`
    rb"|public|protected|private|abstract|final|static|sealed|non-sealed|strictfp)[ \t]++)*)"
    rb"(?:class[ \t]++(?P<class>%(name)s)|interface[ \t]++(?P<interface>%(name)s)|enum[ \t]++(?P<enum>%(name)s)"
    rb"|record[ \t]++(?P<record>%(name)s)[ \t]*+[<(\r\n]|@interface[ \t]++(?P<annotation>%(name)s)"
    rb"|(?:open[ \t]++)?module[ \t]++(?P<module>%(name)s(?>(?:\.%(name)s)*))[ \t]*+[{\r\n])"
    % {b"name": _NAME}
)
_BLOCK = rb"\"\"\"(?>(?:[^\"\\]|\\(?s:.)|\"(?!\"\"))*)(?:\"\"\")?"

JAVA = Language(
    name="java",
    suffixes=("java",),
    find=by_pattern(_DEFINITION),
    toggles=(b'"""',),
    pairs=((b"/*", b"*/"),),
    opaque=by_tokens(late(rb"%b|%b|%b|%b" % (COMMENT, _BLOCK, QUOTED, APOSTROPHES))),
)


LANGUAGES: dict[str, Language] = {
    language.name: language for language in (GO, RUST, TYPESCRIPT, JAVASCRIPT, PYTHON, JAVA, RUBY)
}
_BOM = b"\xef\xbb\xbf"
_BY_SUFFIX = {suffix: language.name for language in LANGUAGES.values() for suffix in language.suffixes}
_BY_NAME = {name: language.name for language in LANGUAGES.values() for name in language.names}


def language_of(path: str) -> str | None:
    """The language of a file by its name, a key of `LANGUAGES`; None for a file that is not read."""
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(suffix.lower()) if stem else _BY_NAME.get(name)


@attrs.frozen
class Declared:
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
