"""Java: the types of a compilation unit, and its module.

Owns: the language's table.
Must not: parse. By every style in use a top-level type begins its line.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

from hub.domain.code.language import APOSTROPHES, COMMENT, LINE, QUOTED, Language, by_pattern, by_tokens
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
