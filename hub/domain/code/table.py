"""The languages that are read, and how a file's is known.

Owns: the list, and the choice by name.
Must not: look into a file.
"""

from __future__ import annotations

from hub.domain.code.ecmascript import JAVASCRIPT, TYPESCRIPT
from hub.domain.code.go import GO
from hub.domain.code.language import APOSTROPHES, COMMENT, LINE, QUOTED, Language, by_pattern, by_tokens
from hub.domain.code.python import PYTHON
from hub.domain.code.ruby import RUBY
from hub.domain.code.rust import RUST
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
_BY_SUFFIX = {suffix: language.name for language in LANGUAGES.values() for suffix in language.suffixes}
_BY_NAME = {name: language.name for language in LANGUAGES.values() for name in language.names}


def language_of(path: str) -> str | None:
    """The language of a file by its name, a key of `LANGUAGES`; None for a file that is not read."""
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(suffix.lower()) if stem else _BY_NAME.get(name)
