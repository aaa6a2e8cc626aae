"""JavaScript and TypeScript: what a module or script declares, and what an old one exports by assignment.

Owns: the tables of both languages.
Must not: parse. By every style in use a top-level declaration begins its line.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hub.domain.code.language import (
    APOSTROPHES,
    COMMENT,
    LINE,
    QUOTED,
    Found,
    Language,
    Pattern,
    Span,
    kinds_of,
)
from hub.domain.text.patterns import late

_NAME = rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+"
_EXPORT = rb"(?:export[ \t]++(?:default[ \t]++)?)?"
_SHARED = (
    rb"(?:async[ \t]++)?function[ \t]*+\*?[ \t]*+(?P<function>%(name)s)"
    rb"|class[ \t]++(?P<class>(?!extends\b|implements\b)%(name)s)"
    rb"|(?:const|let|var)[ \t]++(?P<variable>%(name)s)"
) % {b"name": _NAME}
_ASSIGNED = (
    rb"(?:module[ \t]*+\.[ \t]*+)?exports\.(?P<export>%(name)s)[ \t]*+=(?![=>])"
    rb"|%(name)s(?:\.%(name)s)*?\.prototype\.(?P<method>%(name)s)[ \t]*+=(?![=>])"
) % {b"name": _NAME}
_TYPED = (
    rb"abstract[ \t]++class[ \t]++(?P<class2>%(name)s)"
    rb"|interface[ \t]++(?P<interface>%(name)s)"
    rb"|type[ \t]++(?P<type>%(name)s)[ \t]*+[<=\r\n]"
    rb"|(?:const[ \t]++)?enum[ \t]++(?P<enum>%(name)s)"
    rb"|(?:namespace|module)[ \t]++(?P<namespace>%(name)s(?>(?:\.%(name)s)*))"
) % {b"name": _NAME}
_JS = late(LINE + rb"(?:%b(?:%b)|%b)" % (_EXPORT, _SHARED, _ASSIGNED))
_TS = late(
    LINE
    + rb"(?:(?>(?:@[\w.]++(?:\([^)\n]*+\))?[ \t]++)*)%b(?:declare[ \t]++)?(?:%b|%b)|%b)"
    % (_EXPORT, _TYPED, _SHARED, _ASSIGNED)
)
_ONE_LINE = late(rb"[ \t]*+,[ \t]*+(%b)(?=[ \t]*+[,;:=\r\n])" % _NAME)
_LAST_COMMA = rb",[ \t]*+(?://[^\n]*+|\r)?(?:\n|\Z)"
_CONTINUES = late(
    rb"(?>(?:[^\n,]|(?!%(comma)s),)*)%(comma)s[ \t]++(%(name)s)[ \t]*+(?=[=,;])(?!=[=>])"
    % {b"comma": _LAST_COMMA, b"name": _NAME}
)


def _finder(pattern: Pattern) -> Callable[[bytes], Iterator[Found]]:
    def find(text: bytes) -> Iterator[Found]:
        kinds = kinds_of(pattern)
        for match in pattern().finditer(text):
            group = match.lastindex or 0
            kind = kinds[group]
            yield match.start(group), kind, match[group]
            if kind == "variable":
                yield from _others(text, match.end())

    return find


def _others(text: bytes, at: int) -> Iterator[Found]:
    """The names after the first of `var a, b` and of a declaration with one name a line."""
    if text.find(b",", at, _line_end(text, at)) < 0:
        return  # mostly so, and told in a tenth of the time that the patterns take
    while more := _ONE_LINE().match(text, at) or _CONTINUES().match(text, at):
        yield more.start(1), "variable", more[1]
        at = more.end()


_TEXT = (
    rb"%b|%b|%b|(?P<edge>[%%b])"
    rb"|(?P<slash>(?:(?<![\w$)\]}\s])|(?<=\n)|(?<=\breturn))[ \t]*+/(?![/*]))"
) % (COMMENT, QUOTED, APOSTROPHES)
_TOKEN = late(_TEXT % b"`")
_IN_TEMPLATE = late(_TEXT % b"`{}")
_PATTERN = late(rb"[^/\\\[\n]*+(?>(?:(?:\\.|\[[^\]\\\n]*+(?>(?:\\.[^\]\\\n]*+)*)\])[^/\\\[\n]*+)*)/")
_TEMPLATE = late(rb"(?>(?:[^`\\$]|\\(?s:.)|\$(?!\{))*)(`|\$\{|\Z|\\)")


def _opaque(text: bytes) -> Iterator[Span]:
    """A template holds code, which holds templates: `stack` counts the open braces of each level but the first."""
    stack = [0]
    at = no_pattern = 0
    while token := (_IN_TEMPLATE if len(stack) > 1 else _TOKEN)().search(text, at):
        start, at = token.span()
        edge = token["edge"]
        if token["slash"]:
            pattern = _PATTERN().match(text, at) if at >= no_pattern else None
            if pattern:
                at = pattern.end()
            elif (
                at >= no_pattern
            ):  # nor may a later slash of this line begin one: else a line of slashes took quadratic time
                no_pattern = _line_end(text, at)
        elif edge == b"{":
            stack[-1] += 1
        elif edge == b"}" and stack[-1]:
            stack[-1] -= 1
        elif edge:
            if edge == b"}":
                stack.pop()
            part = _TEMPLATE().match(text, at)
            at = part.end() if part else len(text)
            if part and part[1] == b"${":
                stack.append(0)
        yield start, at


def _line_end(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return len(text) if end < 0 else end


_TOGGLES = (b"`",)
_PAIRS = ((b"/*", b"*/"),)
JAVASCRIPT = Language(
    name="javascript",
    suffixes=("js", "jsx", "mjs", "cjs"),
    find=_finder(_JS),
    opaque=_opaque,
    toggles=_TOGGLES,
    pairs=_PAIRS,
)
TYPESCRIPT = Language(
    name="typescript",
    suffixes=("ts", "tsx", "mts", "cts"),
    find=_finder(_TS),
    opaque=_opaque,
    toggles=_TOGGLES,
    pairs=_PAIRS,
)
