"""Python: functions, classes and names of a module, also those under its `if` and `try`.

Owns: the language's table.
Must not: parse. The language itself lays the text out.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.domain.code.language import APOSTROPHES, LINE, NAME, QUOTED, Found, Language, by_tokens, kinds_of
from hub.domain.text.patterns import late

_DEFINITION = late(
    LINE
    + rb"(?:(?P<block>(?:if|elif|else|try|except|finally|with|for|while|match|async[ \t]++(?:with|for))\b(?![ \t]*+[=.,]))"
    rb"|(?:async[ \t]++)?def[ \t]++(?P<function>%(name)s)|class[ \t]++(?P<class>%(name)s)"
    rb"|type[ \t]++(?P<type>%(name)s)[ \t]*+[\[=]"
    rb"|(?P<variable>%(name)s)[ \t]*+(?:=(?!=)|:(?!=)))" % {b"name": NAME}
)
_INNER = late(
    rb"\n([ \t]++)(?:(?:async[ \t]++)?def[ \t]++(?P<function>%(name)s)|class[ \t]++(?P<class>%(name)s))"
    % {b"name": NAME}
)
_NEXT = late(rb"\n(?=[^\s#)\]}])")


def _find(text: bytes) -> Iterator[Found]:
    kinds = kinds_of(_DEFINITION)
    for match in _DEFINITION().finditer(text):
        group = match.lastindex or 0
        kind = kinds[group]
        if kind != "block":
            yield match.start(group), kind, match[group]
            continue
        after = _NEXT().search(text, match.end())
        yield from _in_block(text, match.end(), after.start() if after else len(text))


def _in_block(text: bytes, start: int, end: int) -> Iterator[Found]:
    """The definitions of a block that are in no other definition: deeper than the last one means inside it."""
    within = None
    kinds = kinds_of(_INNER)
    for match in _INNER().finditer(text, start, end):
        indent = len(match[1])
        if within is None or indent <= within:
            within = indent
            group = match.lastindex or 0
            yield match.start(group), kinds[group], match[group]


_LONG = (
    rb"\"\"\"[^\"\\]*+(?>(?:(?:\\(?s:.)|\"(?!\"\"))[^\"\\]*+)*)(?:\"\"\")?"
    rb"|'''[^'\\]*+(?>(?:(?:\\(?s:.)|'(?!''))[^'\\]*+)*)(?:''')?"
)

PYTHON = Language(
    name="python",
    suffixes=("py", "pyi", "pyw"),
    find=_find,
    toggles=(b'"""', b"'''"),
    opaque=by_tokens(late(rb"#[^\n]*+|%b|%b|%b" % (_LONG, QUOTED, APOSTROPHES))),
)
