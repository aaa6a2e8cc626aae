"""What a source file says that it imports.

Owns: the statements of each language by which one file names another.
Must not: know which files there are (`resolve` does), or parse.

A name is told as the language has it, but for two of its own: Python's `from a import b` is `a:b`, for `b` may be a
module or not, and Ruby's `require_relative 'a'` is `./a`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hub.domain.code.language import Found
from hub.domain.text.patterns import late

MAX_IMPORTS = 1000
"""Of one file."""
MAX_NAME = 300
"""Bytes; what is longer is no name."""
_KIND = "import"

_PYTHON = late(
    rb"\n[ \t]*+(?:import[ \t]++(?P<whole>[\w\x80-\xff][^\n;#]*+)"
    rb"|from[ \t]++(?P<base>[\w\x80-\xff.]++)[ \t]++import\b[ \t]*+(?:\((?P<many>[^)]*+)|(?P<some>[^\n;#(]++)))"
)
_REMARK = late(rb"#[^\n]*+|\\")
_GO = late(rb"\nimport[ \t]*+(?:\((?P<group>[^)]*+)|(?:[\w.]++[ \t]++)?[\"`](?P<one>[^\"`\n]++)[\"`])")
_GO_MEMBER = late(rb"\n[ \t]*+(?:[\w.]++[ \t]++)?[\"`](?P<one>[^\"`\n]++)[\"`]")
_RUST = late(
    rb"\n[ \t]*+(?:pub(?:\([^)\n]*+\))?[ \t]++)?(?:use[ \t]++(?P<use>[^;]{1,2000}+);"
    rb"|mod[ \t]++(?P<mod>\w++)[ \t]*+;|extern[ \t]++crate[ \t]++(?P<crate>\w++))"
)
_RUST_TOKEN = late(rb"//[^\n]*+|\bas[ \t]++\w++|(?:r#)?\w++|[{},]")
_JAVA = late(rb"\nimport[ \t]++(?P<static>static[ \t]++)?(?P<name>[\w$.*\x80-\xff]++)[ \t]*+;")
_RUBY = late(
    rb"\n[ \t]*+(?:(?P<near>require_relative)|require|autoload[ \t(]++:\w++,)[ \t(]*+[\"'](?P<name>[^\"'\n#]++)[\"']"
)
_SCRIPT = late(
    rb"\n[ \t]*+(?:import|export)(?![\w$.(])(?P<what>[^;'\"`()=]{0,4000}+)[\"'](?P<name>[^\"'\n]++)[\"']"
)
_CALLS = tuple(
    late(rb"%b[ \t]*+\([ \t]*+[\"'](?P<name>[^\"'\n]++)[\"'][ \t]*+\)" % word)
    for word in (b"require", b"import")
)
_BEFORE_CALL = late(rb"[\w$.]")


def names(finds: Iterable[Found]) -> list[str]:
    """The names of the finds, each once, in order."""
    found = (name for _, _, name in finds if name and len(name) <= MAX_NAME)
    return list(dict.fromkeys(name.decode("utf-8", "replace") for name in found))


def _python(text: bytes) -> Iterator[Found]:
    for match in _PYTHON().finditer(text):
        listed = _REMARK().sub(b" ", match["whole"] or match["many"] or match["some"] or b"")
        for part in listed.split(b","):
            for name in part.split()[:1]:
                yield match.start() + 1, _KIND, b"%b:%b" % (match["base"], name) if match["base"] else name


def _go(text: bytes) -> Iterator[Found]:
    for match in _GO().finditer(text):
        if match["one"]:
            yield match.start() + 1, _KIND, match["one"]
        else:
            for member in _GO_MEMBER().finditer(text, *match.span("group")):
                yield match.start() + 1, _KIND, member["one"]


def _rust(text: bytes) -> Iterator[Found]:
    for match in _RUST().finditer(text):
        if match["use"]:
            for path in _used(match["use"]):
                yield match.start() + 1, _KIND, path
        else:
            yield match.start() + 1, _KIND, b"self::" + match["mod"] if match["mod"] else match["crate"]


def _used(tree: bytes) -> Iterator[bytes]:
    """The paths of a tree as `a::{b, c::{d, e}}`."""
    path: list[bytes] = []
    above: list[list[bytes]] = []
    fresh = True
    for token in _RUST_TOKEN().findall(tree):
        if token == b"{":
            above.append([*path])
        elif token in {b",", b"}"}:
            if fresh:
                yield b"::".join(path)
            path = [*above[-1]] if above else []
            if token == b"}" and above:
                above.pop()
        elif token[:2] != b"//" and token[:3] not in {b"as ", b"as\t"}:
            path.append(token.removeprefix(b"r#"))
        fresh = token not in {b"}", b"{"}
    if fresh:
        yield b"::".join(path)


def _java(text: bytes) -> Iterator[Found]:
    for match in _JAVA().finditer(text):
        name = match["name"].rpartition(b".")[0] if match["static"] else match["name"]
        yield match.start() + 1, _KIND, name


def _ruby(text: bytes) -> Iterator[Found]:
    for match in _RUBY().finditer(text):
        yield match.start() + 1, _KIND, b"./" + match["name"] if match["near"] else match["name"]


def _script(text: bytes) -> Iterator[Found]:
    """What is imported, and what is exported again; `require` and `import` may also stand in the middle of a line."""
    found = [
        (match.start() + 1, _KIND, match["name"])
        for match in _SCRIPT().finditer(text)
        if not match["what"].strip() or match["what"].rstrip().endswith(b"from")
    ]
    for pattern in _CALLS:
        calls = pattern().finditer(text)
        found += [
            (call.start(), _KIND, call["name"])
            for call in calls
            if not _BEFORE_CALL().match(text, call.start() - 1)
        ]
    yield from sorted(found)


FIND: dict[str, Callable[[bytes], Iterator[Found]]] = {
    "go": _go,
    "rust": _rust,
    "typescript": _script,
    "javascript": _script,
    "python": _python,
    "java": _java,
    "ruby": _ruby,
}
"""What looks like an import, in order; the text begins with a newline that is not its own."""
