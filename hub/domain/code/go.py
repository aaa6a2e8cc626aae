"""Go: functions, methods, types, constants and variables of a package.

Owns: the language's table.
Must not: parse. `gofmt` has laid the text out: what is top-level begins its line.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.domain.code.language import (
    APOSTROPHES,
    COMMENT,
    LINE,
    NAME,
    QUOTED,
    Found,
    Language,
    by_tokens,
    kinds_of,
)
from hub.domain.text.patterns import late

_DEFINITION = late(
    LINE + rb"(?:func[ \t]++(?:\([^)\n]*+\)[ \t]*+(?P<method>%(name)s)|(?P<function>%(name)s))"
    rb"|type[ \t]++(?P<type>%(name)s)"
    rb"|const[ \t]++(?P<constant>%(name)s)|var[ \t]++(?P<variable>%(name)s)"
    rb"|(?P<group>type|const|var)[ \t]*+\()" % {b"name": NAME}
)
_MORE = late(rb"[ \t]*+,[ \t]*+(%b)" % NAME)
_MEMBER = late(rb"\n\t(%b)(?=([ \t]*+,)?)" % NAME)
_GROUPS = {b"type": "type", b"const": "constant", b"var": "variable"}


def _find(text: bytes) -> Iterator[Found]:
    end = 0
    kinds = kinds_of(_DEFINITION)
    for match in _DEFINITION().finditer(text):
        group = match.lastindex or 0
        kind, at = kinds[group], match.start(group)
        if at < end:
            continue  # a template's text in a group of variables
        if kind != "group":
            yield at, kind, match[group]
            if kind in {"constant", "variable"}:
                yield from _others(text, match.end(), kind)
            continue
        end = text.find(b"\n)", match.end())
        end = len(text) if end < 0 else end
        kind = _GROUPS[match[group]]
        for member in _MEMBER().finditer(text, match.end(), end):
            yield member.start(1), kind, member[1]
            if member.lastindex == 2:  # noqa: PLR2004  # the comma's group
                yield from _others(text, member.end(), kind)


def _others(text: bytes, at: int, kind: str) -> Iterator[Found]:
    """The names after the first of `a, b = 1, 2`."""
    while more := _MORE().match(text, at):
        yield more.start(1), kind, more[1]
        at = more.end()


GO = Language(
    name="go",
    suffixes=("go",),
    find=_find,
    toggles=(b"`",),
    pairs=((b"/*", b"*/"),),
    opaque=by_tokens(late(rb"%b|%b|`[^`]*+`?|%b" % (COMMENT, QUOTED, APOSTROPHES))),
)
