"""Ruby: modules, classes, methods and constants of a file; a module is a name space, so its classes count too.

Owns: the language's table.
Must not: parse. Everybody indents what a module holds.
Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from hub.domain.code.language import Found, Language, Span, kinds_of
from hub.domain.text.patterns import late

_CONST = rb"[A-Z\x80-\xff][\w\x80-\xff]*+"
_PATH = rb"(?:::)?%(const)s(?>(?:::%(const)s)*)" % {b"const": _CONST}
_DEFINITION = late(
    rb"\n(?=[ \t]*+(?:class|module)[ \t]|[\w:\x80-\xff])"
    rb"(?:[ \t]*+(?:class[ \t]++(?P<class>%(path)s)|module[ \t]++(?P<module>%(path)s))"
    rb"|(?:(?:private|public|protected|private_class_method|module_function)[ \t]++)?"
    rb"def[ \t]++(?:(?:self|[\w\x80-\xff]++)\.)?"
    rb"(?P<method>[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:[?!]|=(?=[ \t]*+\())?|[+*/%%<>=!~^&|\[\]`@-]++)"
    rb"|(?P<constant>%(path)s)[ \t]*+(?:\|\||&&)?=(?![=~>]))" % {b"path": _PATH, b"const": _CONST}
)


def _find(text: bytes) -> Iterator[Found]:
    # Each class or module that is open: its indent, and whether it is a name space.
    spaces: list[tuple[int, bool]] = []
    kinds = kinds_of(_DEFINITION)
    for match in _DEFINITION().finditer(text):
        group = match.lastindex or 0
        at, kind, name = match.start(group), kinds[group], match[group]
        if kind not in {"class", "module"}:
            yield at, kind, name
            continue
        indent = len(match[0]) - len(match[0].lstrip())
        while spaces and spaces[-1][0] >= indent:
            spaces.pop()
        top = indent == 1 or (bool(spaces) and spaces[-1][1])
        if top:
            yield at, kind, name
        spaces.append((indent, top and kind == "module"))


_TOKEN = late(
    rb"\n=begin\b(?s:.*?)(?:\n=end\b[^\n]*+|\Z)|\n__END__\r?\n(?s:.*)|#[^\n]*+|\?[\"'`#](?!\w)|\$[\"'`]"
    rb"|(?P<here><<(?:[~-]([\"'`]?)(?P<mark>[A-Za-z_]\w*+)\2|([\"'`]?)(?P<upper>[A-Z_]\w*+)\4))"
    rb"|\"(?>(?:[^\"\\]|\\(?s:.))*)\"?|'(?>(?:[^'\\]|\\(?s:.))*)'?|`(?>(?:[^`\\]|\\(?s:.))*)`?"
    rb"|(?<=[\s(,=\[{])%[qQwWiIxrs]?(?P<open>[{(\[<|!/])"
    rb"|(?<=[(,=~|&!{;])[ \t]*+/(?>(?:[^/\\\n]|\\.)+)/"
)
_END = late(rb"\n[ \t]*+([A-Za-z_]\w*+)\r?(?=\n|\Z)")
"""A line that may end a here-document."""
_CLOSE = {b"{": b"}", b"(": b")", b"[": b"]", b"<": b">"}


def _opaque(text: bytes) -> Iterator[Span]:
    ends: dict[bytes, list[Span]] = {}
    for line in _END().finditer(text):
        ends.setdefault(line[1], []).append(line.span())
    at = 0
    while token := _TOKEN().search(text, at):
        start, at = token.span()
        if token["here"]:
            start, at = _document(text, at, ends.get(token["mark"] or token["upper"], []))
        elif token["open"]:
            at = _closed(text, at, token["open"])
        yield start, at


def _document(text: bytes, at: int, ends: list[Span]) -> Span:
    """The lines of a here-document; nothing where it never ends, for then it was a shift."""
    # Asked first: on a line of nothing but shifts, each would look for the line's end.
    if not ends or ends[-1][0] < at:
        return at, at
    start = text.find(b"\n", at)
    return start, ends[bisect_left(ends, (start, 0))][1]


def _closed(text: bytes, at: int, opener: bytes) -> int:
    """Where the bracket that was opened before `at` is closed; brackets inside nest."""
    closer = _CLOSE.get(opener, opener)
    edges = re.compile(rb"\\(?s:.)|[%b%b]" % (re.escape(opener), re.escape(closer)))
    depth = 1
    for edge in edges.finditer(text, at):
        if edge[0] == closer:
            depth -= 1
        elif edge[0] == opener:
            depth += 1
        if not depth:
            return edge.end()
    return len(text)


RUBY = Language(
    name="ruby",
    suffixes=("rb", "rake", "gemspec", "ru", "podspec"),
    names=("Rakefile", "Gemfile", "Podfile", "Guardfile", "Capfile", "Vagrantfile", "Fastfile"),
    find=_find,
    opaque=_opaque,
    toggles=(b'"',),
    pairs=((b"\n=begin", b"\n=end"), (b"\n__END__\n", b"\n__END__\n")),
)
