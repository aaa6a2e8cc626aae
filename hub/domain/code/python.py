"""Python: functions, classes and names of a module, also those under its `if` and `try`.

Owns: the language's table.
Must not: parse. The language itself lays the text out.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hub.domain.code.language import LINE, NAME, Found, Language, by_tokens, kinds_of

_DEFINITION = re.compile(
    LINE
    + rb"(?:(?P<block>(?:if|elif|else|try|except|finally|with|for|while|match|async[ \t]++(?:with|for))\b(?![ \t]*+[=.,]))"
    rb"|(?:async[ \t]++)?def[ \t]++(?P<function>%(name)s)|class[ \t]++(?P<class>%(name)s)"
    rb"|type[ \t]++(?P<type>%(name)s)[ \t]*+[\[=]"
    rb"|(?P<variable>%(name)s)[ \t]*+(?:=(?!=)|:(?!=)))" % {b"name": NAME}
)
_INNER = re.compile(
    rb"\n([ \t]++)(?:(?:async[ \t]++)?def[ \t]++(?P<function>%(name)s)|class[ \t]++(?P<class>%(name)s))"
    % {b"name": NAME}
)
_KINDS = kinds_of(_DEFINITION)
_INNER_KINDS = kinds_of(_INNER)
_NEXT = re.compile(rb"\n(?=[^\s#)\]}])")


def _find(text: bytes) -> Iterator[Found]:
    for match in _DEFINITION.finditer(text):
        group = match.lastindex or 0
        kind = _KINDS[group]
        if kind != "block":
            yield match.start(group), kind, match[group]
            continue
        after = _NEXT.search(text, match.end())
        yield from _in_block(text, match.end(), after.start() if after else len(text))


def _in_block(text: bytes, start: int, end: int) -> Iterator[Found]:
    """The definitions of a block that are in no other definition: deeper than the last one means inside it."""
    within = None
    for match in _INNER.finditer(text, start, end):
        indent = len(match[1])
        if within is None or indent <= within:
            within = indent
            group = match.lastindex or 0
            yield match.start(group), _INNER_KINDS[group], match[group]


_LONG = rb"\"\"\"(?>(?:[^\"\\]|\\(?s:.)|\"(?!\"\"))*)(?:\"\"\")?|'''(?>(?:[^'\\]|\\(?s:.)|'(?!''))*)(?:''')?"
_SHORT = rb"\"(?>(?:[^\"\\\n]|\\(?s:.))*)\"?|'(?>(?:[^'\\\n]|\\(?s:.))*)'?"

PYTHON = Language(
    name="python",
    suffixes=("py", "pyi", "pyw"),
    find=_find,
    toggles=(b'"""', b"'''"),
    opaque=by_tokens(re.compile(rb"#[^\n]*+|%b|%b" % (_LONG, _SHORT))),
)
