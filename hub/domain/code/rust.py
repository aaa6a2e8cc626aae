"""Rust: the items of a file.

Owns: the language's table.
Must not: parse. `rustfmt` has laid the text out: an item of the file begins its line.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.domain.code.language import LINE, Language, Span, by_pattern
from hub.domain.text.patterns import late

_NAME = rb"(?:r#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*+"
_DEFINITION = late(
    LINE + rb"(?>(?:#\[[^\]\n]*+\][ \t]*+)*)(?:pub(?:[ \t]*+\([^)\n]*+\))?[ \t]++)?"
    rb"(?:const[ \t]++(?P<constant>%(name)s)[ \t]*+:"  # first, for tables of them are the largest files
    rb"|(?:(?:default|async|const|unsafe|safe|extern(?:[ \t]++\"[^\"\n]*+\")?)[ \t]++)*"
    rb"fn[ \t]++(?P<function>%(name)s)"
    rb"|struct[ \t]++(?P<struct>%(name)s)|enum[ \t]++(?P<enum>%(name)s)|union[ \t]++(?P<union>%(name)s)"
    rb"|(?:unsafe[ \t]++)?(?:auto[ \t]++)?trait[ \t]++(?P<trait>%(name)s)"
    rb"|mod[ \t]++(?P<module>%(name)s)|type[ \t]++(?P<type>%(name)s)"
    rb"|static[ \t]++(?:mut[ \t]++)?(?P<static>%(name)s)"
    rb"|macro_rules![ \t]*+(?P<macro>%(name)s)|macro[ \t]++(?P<macro2>%(name)s))" % {b"name": _NAME}
)
_TOKEN = late(
    rb"//[^\n]*+|/\*|\bb?r(#*+)\"(?s:.*?)(?:\"\1|\Z)|\"(?>(?:[^\"\\]|\\(?s:.))*)\"?"
    rb"|'(?:[^'\\\n]|\\[^\n][^'\n]{0,9})'"
)
_COMMENT_EDGE = late(rb"/\*|\*/")


def _opaque(text: bytes) -> Iterator[Span]:
    """Comments nest, and every string may go on over lines."""
    at = 0
    while token := _TOKEN().search(text, at):
        at = token.end() if token[0] != b"/*" else _comment_end(text, token.end())
        yield token.start(), at


def _comment_end(text: bytes, at: int) -> int:
    depth = 1
    while depth:
        edge = _COMMENT_EDGE().search(text, at)
        if edge is None:
            return len(text)
        depth += 1 if edge[0] == b"/*" else -1
        at = edge.end()
    return at


RUST = Language(
    name="rust",
    suffixes=("rs",),
    find=by_pattern(_DEFINITION),
    opaque=_opaque,
    toggles=(b'"',),
    pairs=((b"/*", b"*/"), (b'r#"', b'"#')),
)
