"""What beside a type says what a setting may be, and where in a text a key stands.

Owns: `SettingRule`, `SettingProblem`, the names of fields outside of Python, and the places of keys and of syntax errors
in TOML.
Must not: know any setting, or repeat a value in a problem (it may be a secret).
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from hub.errors import Code, HubError

Path = tuple[str | int, ...]
MAX_PROBLEMS = 100
"""A document that is wrong in more places is told the first so many."""

_READABLE = 1e15
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
class SettingProblem:
    """One thing that is wrong, and where."""

    path: Path
    text: str

    @property
    def where(self) -> str:
        """The path as people write it: `providers.claude.accounts[0].label`."""
        return self.json_path[1:].removeprefix(".")

    @property
    def json_path(self) -> str:
        """The same of a document: `$.accounts[0].label`."""
        return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)


def _always(_: object) -> bool:
    return True


def _same(value: object) -> object:
    return value


@attrs.frozen(eq=False)
class SettingRule:
    """Beside a type, in `Annotated`: what a setting may be, beyond its type, in words that do not repeat a value.

    Attributes:
        allowed: Completes the sentence "must be ..."; "" for one of the words of a `Literal`.
        test: Whether a value of the type is allowed.
        prepare: Makes the raw value of another way to write it; its `ValueError` is told as it is.
    """

    allowed: str = ""
    test: Callable[[Any], object] = _always
    prepare: Callable[[Any], Any] = _same

    def refusal(self, value: object, words: Iterable[object] = (), *, typed: bool = False) -> ValueError:
        """What is said of a raw value that is not allowed, be it `typed` as the setting is, or not even that."""
        allowed = self.allowed or "one of " + ", ".join(f'"{word}"' for word in words if word)
        return ValueError(f"must be {allowed}, not {_kind(value, typed=typed)}")


def whole(low: int, high: int | None = None) -> SettingRule:
    """A whole number in a range."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    top = 2**53 - 1 if high is None else high
    return SettingRule(allowed, lambda value: low <= value <= top)


def number(allowed: str, test: Callable[[float], bool]) -> SettingRule:
    """A finite number for which `test` holds."""
    return SettingRule(allowed, lambda value: math.isfinite(value) and abs(value) < 2**53 and test(value))


def invalid(found: Sequence[SettingProblem]) -> HubError:
    """INVALID, which tells these problems, the first `MAX_PROBLEMS` with their JSON paths. There is one at least."""
    errors = [{"path": problem.json_path, "message": problem.text} for problem in found[:MAX_PROBLEMS]]
    others = len(found) - 1
    more = f" (and {others} more)" if others else ""
    if len(found) > MAX_PROBLEMS:
        more = f" (and at least {others} more)"
    return HubError(Code.INVALID, f"{errors[0]['path']}: {errors[0]['message']}{more}", errors=errors)


def called(name: str) -> dict[str, str]:
    """The metadata of a field whose name outside of Python is not its own in camel case."""
    return {"called": name}


def outside(field: attrs.Attribute[object]) -> str:
    """The name of a field outside of Python."""
    return str(field.metadata.get("called", "")) or camel(field.name)


def camel(name: str) -> str:
    """The name of a field outside of Python: `max_handoffs` is `maxHandoffs`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def unknown(key: str, known: Iterable[str]) -> str:
    """What to tell of a key that is none: the one it is near to, and all there are."""
    import difflib  # only for a mistake

    names = list(known)
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    hint = f'; did you mean "{near[0]}"?' if near else "."
    return f"is not a known key{hint} Allowed: {', '.join(sorted(names)) or 'none'}"


def syntax_problem(error: Exception, text: str) -> tuple[int, int, str]:
    """Line, column and words of what `tomllib` raised for `text`; 1, 1 where it does not say."""
    import tomllib  # as in `hub.domain.config.reader`

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
    for place, here, told in _statements(text):
        if path[: len(here)] == here and (shared := len(here) + _shared(told, path[len(here) :])) > depth:
            best, depth = place, shared
    return best


def _shared(told: Any, path: Path) -> int:
    """How far the path leads into what is told."""
    for depth, part in enumerate(path):
        try:
            told = told[part]
        except (LookupError, TypeError):
            return depth
    return len(path)


def _statements(text: str) -> Iterator[tuple[tuple[int, int], Path, dict[str, Any]]]:
    """Every key at the start of a line and every table header: where it stands, in which table, and what it tells."""
    here: Path = ()
    counts: dict[Path, int] = {}
    lines = text.split("\n")
    end = 0
    while end < len(lines):
        line = lines[end]
        place = (end + 1, len(line) - len(line.lstrip()) + 1)
        end, told = _statement(lines, end)
        if line.lstrip().startswith("["):
            here = _opened(told, counts)
            yield place, here, {}
        elif told:
            yield place, here, told


def _statement(lines: list[str], first: int) -> tuple[int, dict[str, Any]]:
    """Where the next statement begins, and what this one tells: it takes the fewest lines that make it valid TOML."""
    import tomllib  # as above

    for end in range(first + 1, len(lines)):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            return end, tomllib.loads("\n".join([*lines[first:end], ""]))
    return len(lines), tomllib.loads("\n".join(lines[first:]))


def _opened(header: Any, counts: dict[Path, int]) -> Path:
    """The path a header opens; elements of an array of tables carry their index."""
    path: Path = ()
    while header:
        ((name, header),) = header.items()
        path = (*path, name)
        if isinstance(header, list):
            counts[path] = counts.get(path, -1) + 1
            header = {}
        if path in counts:
            path = (*path, counts[path])
    return path


def _kind(value: object, *, typed: bool) -> str:
    """What is wrong, without what may be a secret, as a text or digits in its place; a number is repeated for a number."""
    if typed and isinstance(value, int | float) and abs(value) < _READABLE:
        return str(value)
    names = {bool: "a boolean", int: "this number", float: "this number", list: "an array", dict: "a table"}
    return "this string" if isinstance(value, str) else names.get(type(value), "a date or time")
