"""Plain TOML tables to typed values, with every problem told at once.

Owns: the readers of which a typed table is made, `Problem`, and where in a text a key stands.
Must not: know any setting, or repeat a value in a problem (it may be a secret).

A reader takes a raw value, its path and the list of problems; it returns the typed value, or adds to the
list. A typed table is an attrs class whose fields carry a reader (`setting`); its TOML keys are their names
in camel case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import attrs

Path = tuple[str | int, ...]
Reader = Callable[[Any, Path, "list[Problem]"], Any]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SYNTAX = (
    ("Invalid value", 'Allowed: "text" in quotes, a number, true, false, or a list in [ ]'),
    ("Invalid initial character", "Allowed: letters, digits, - and _, anything else in quotes"),
    ("Invalid statement", "Allowed: key = value, a [table], or a # comment"),
    ("Expected '='", "Allowed: key = value"),
    ("Expected ']'", "Allowed: [table] or [[table]], on a line of its own"),
    ("Expected newline", "Allowed: one key = value a line; a fraction is written with a point, as in 0.9"),
    ("Unclosed array", "Allowed: [ ], with commas between the values"),
    ("Unclosed inline table", "Allowed: { }, with commas between each key = value, on one line"),
    ("Unterminated string", "Allowed: a text ends with the quote that it began with"),
    ("Found invalid character", "Allowed: a text ends with the quote that it began with, on the same line"),
    ("Unescaped", "Allowed: a backslash doubled, or the text in 'single quotes'"),
    ("Cannot overwrite", "Allowed: each key once"),
    ("Cannot declare", "Allowed: each [table] once"),
)
"""How the parser's words begin, and what may stand there instead."""
_AT = re.compile(r"line (\d+), column (\d+)\)")


@attrs.frozen
class Problem:
    """One thing that is wrong, and where."""

    path: Path
    text: str

    @property
    def where(self) -> str:
        """The path as people write it: `providers.claude.accounts[0].label`."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")


def setting(reader: Reader, default: Any = attrs.NOTHING, *, key: str = "", secret: bool = False) -> Any:
    """A field of a typed table. Without a default it is required; a secret stays out of the `repr`."""
    metadata = {"reader": reader, "key": key}
    if callable(default):
        return attrs.field(factory=default, metadata=metadata, repr=not secret)
    return attrs.field(default=default, metadata=metadata, repr=not secret)


def key_of(field: attrs.Attribute[Any]) -> str:
    """The TOML key of a field: `max_handoffs` is `maxHandoffs` unless its setting says otherwise."""
    head, *rest = field.name.split("_")
    return str(field.metadata["key"]) or head + "".join(word.capitalize() for word in rest)


def scalar(
    allowed: str, test: Callable[[Any], bool], convert: Callable[[Any], Any] = lambda value: value
) -> Reader:
    """A value for which `test` holds; `allowed` completes the sentence "must be ..."."""

    def read(value: Any, path: Path, problems: list[Problem]) -> Any:
        if test(value):
            return convert(value)
        problems.append(Problem(path, f"must be {allowed}, not {_kind(value)}"))
        return None

    return read


def integer(low: int, high: int | None = None) -> Reader:
    """A whole number in a range."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    top = 2**53 - 1 if high is None else high
    return scalar(allowed, lambda value: type(value) is int and low <= value <= top)


def number(allowed: str, test: Callable[[float], bool]) -> Reader:
    """A finite number, as a float."""
    return scalar(
        allowed, lambda v: type(v) in (int, float) and abs(v) < 2**53 and math.isfinite(v) and test(v), float
    )


def choice(*names: str) -> Reader:
    """One of a few words."""
    return scalar("one of " + ", ".join(f'"{name}"' for name in names), lambda value: value in names)


def string(allowed: str = "a string", test: Callable[[str], bool] = lambda _: True) -> Reader:
    """A string without NUL for which `test` holds."""
    return scalar(allowed, lambda value: isinstance(value, str) and "\0" not in value and test(value))


boolean: Reader = scalar("true or false", lambda value: isinstance(value, bool))


def each(reader: Reader, allowed: str) -> Reader:
    """An array of which each element is read by `reader`, as a tuple."""

    def read(value: Any, path: Path, problems: list[Problem]) -> Any:
        if not isinstance(value, list):
            problems.append(Problem(path, f"must be {allowed}, not {_kind(value)}"))
            return None
        return tuple(reader(item, (*path, index), problems) for index, item in enumerate(value))

    return read


def named(reader: Reader, name: Callable[[str], str]) -> Reader:
    """A table whose keys are free names; `name` tells what is wrong with a name, "" for nothing."""

    def read(value: Any, path: Path, problems: list[Problem]) -> Any:
        if not isinstance(value, dict):
            problems.append(Problem(path, f"must be a table, not {_kind(value)}"))
            return None
        problems.extend(Problem((*path, key), wrong) for key in value if (wrong := name(key)))
        return {key: reader(item, (*path, key), problems) for key, item in value.items()}

    return read


def table(kind: type[Any]) -> Reader:
    """A table with the settings of `kind` and no others."""
    fields = {key_of(field): field for field in attrs.fields(kind)}

    def read(value: Any, path: Path, problems: list[Problem]) -> Any:
        if not isinstance(value, dict):
            problems.append(Problem(path, f"must be a table, not {_kind(value)}"))
            return None
        before = len(problems)
        problems.extend(Problem((*path, key), unknown(key, fields)) for key in value if key not in fields)
        problems.extend(
            Problem(path, f'needs the key "{key}"')
            for key, field in fields.items()
            if field.default is attrs.NOTHING and key not in value
        )
        found = {
            field.name: field.metadata["reader"](value[key], (*path, key), problems)
            for key, field in fields.items()
            if key in value
        }
        return kind(**found) if len(problems) == before else None

    return read


def unknown(key: str, known: Iterable[str]) -> str:
    """What to tell of a key that is none: the one it is near to, and all there are."""
    import difflib  # noqa: PLC0415  # only for a mistake

    names = list(known)
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    hint = f'; did you mean "{near[0]}"?' if near else "."
    return f"is not a known key{hint} Allowed: {', '.join(sorted(names))}"


def syntax_problem(error: Exception, text: str) -> tuple[int, int, str]:
    """Line, column and words of what `tomllib` raised for `text`; 1, 1 where it does not say."""
    import tomllib  # noqa: PLC0415  # as in `hub.domain.config.reader`

    if not isinstance(error, tomllib.TOMLDecodeError):
        return (
            1,
            1,
            "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too long",
        )
    words, _, place = str(error).partition(" (at ")
    words = ". ".join([words, *(allowed for begin, allowed in _SYNTAX if words.startswith(begin))])
    if found := _AT.fullmatch(place):
        return int(found[1]), int(found[2]), words
    lines = text.split("\n")
    return len(lines), len(lines[-1]) + 1, words


def locate(text: str, path: Path) -> tuple[int, int]:
    """Line and column (from 1) of the key at `path`, or of the nearest table around it; else 1, 1.

    `text` must be valid TOML. A key inside an inline table or array is found at the key which holds that.
    """
    best, depth = (1, 1), 0
    for at, (line, column) in _keys(text):
        shared = sum(1 for _ in _common(at, path))
        if shared > depth and shared == len(at):
            best, depth = (line, column), shared
    return best


def _common(one: Path, other: Path) -> Iterable[str | int]:
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            return
        yield mine


def _keys(text: str) -> Iterable[tuple[Path, tuple[int, int]]]:
    """Every key at the start of a line and every table header, with its path."""
    here: Path = ()
    counts: dict[Path, int] = {}
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        bare = line.strip()
        number += 1
        column = len(line) - len(line.lstrip()) + 1
        if bare.startswith("["):
            here = _header(bare, counts)
            yield here, (number, column)
        elif bare and not bare.startswith("#"):
            name = _key_path(bare)
            yield (*here, *name), (number, column)
            number += _continued(lines, number - 1)


def _header(bare: str, counts: dict[Path, int]) -> Path:
    """The path a header opens; elements of an array of tables carry their index."""
    many = bare.startswith("[[")
    path: Path = ()
    names = _key_path(bare.lstrip("["))
    for depth, name in enumerate(names):
        path = (*path, name)
        last = depth == len(names) - 1
        if last and many:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _key_path(text: str) -> Path:
    """The dotted key that `text` begins with: `a."b.c".d = 1` is `a`, `b.c`, `d`."""
    parts: list[str] = []
    rest = text.lstrip()
    while True:
        if rest[0] in "\"'":
            end = rest.index(rest[0], 1)
            parts.append(rest[1:end])
            rest = rest[end + 1 :].lstrip()
        else:
            found = _BARE.match(rest)
            parts.append(found[0] if found else "")
            rest = rest[len(parts[-1]) :].lstrip()
        if not rest.startswith("."):
            return tuple(parts)
        rest = rest[1:].lstrip()


def _continued(lines: list[str], first: int) -> int:
    """How many more lines the value that begins on line `first` takes: the fewest that make it valid TOML."""
    counts = range(len(lines) - first)
    return next(more for more in counts if _is_toml("\n".join(lines[first : first + more + 1])))


def _is_toml(text: str) -> bool:
    import tomllib  # noqa: PLC0415  # as above

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "this number", float: "this number", list: "an array", dict: "a table"}
    return "this string" if isinstance(value, str) else names.get(type(value), "a date or time")
