"""One member of a JSON file that people edit: put in, replaced or taken out, and nothing else moved.

Owns: where a member stands in the text (JSON with comments and trailing commas), and the text around a change.
Must not: read or write files, or reformat what it does not change.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence

import attrs

from hub.errors import Code, HubError

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r'"(?:[^"\\\n]|\\.)*"|[^\s,:{}\[\]"/]+')
_INDENT = "  "
_MAX_DEPTH = 100


@attrs.frozen
class _Member:
    key: str
    start: int
    value: int
    end: int


@attrs.frozen
class _Style:
    """How a file is written."""

    indent: str
    """Of one level; "" = all on one line."""
    gap: str
    """Behind a colon, and on one line behind a comma."""


def put(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at `path`; objects on the way are made where they are missing.

    Raises:
        HubError: `config_invalid` when it is no JSON, or something on the way is no object.
    """
    if not text.strip():
        text = "{}\n"
    at, depth = _root(text), 1
    style = _style_of(text, at)
    for index, key in enumerate(path):
        found = next((member for member in _members(text, at) if member.key == key), None)
        if found is None:
            new = (key, _nested(path[index + 1 :], value))
            return _insert(text, at, new, depth, style)
        if index == len(path) - 1:
            return _replaced(text, found, value, depth, style)
        at, depth = _object(text, found.value), depth + 1
    raise ValueError("a path has a step at least")


def take(text: str, path: Sequence[str]) -> str:
    """The text without what is at `path`; as it was where nothing is.

    Raises:
        HubError: As `put`.
    """
    if not text.strip():
        return text
    at = _root(text)
    for key in path[:-1]:
        found = next((member for member in _members(text, at) if member.key == key), None)
        if found is None:
            return text
        at = _object(text, found.value)
    members = list(_members(text, at))
    place = next((number for number, member in enumerate(members) if member.key == path[-1]), None)
    if place is None:
        return text
    member = members[place]
    comma = _skip(text, member.end)
    if text[comma] == ",":
        after = comma + 1
        return text[: member.start] + text[after:].lstrip(" \t\r\n")
    # The last of them: the comma before it goes too.
    before = members[place - 1].end if place else at + 1
    return text[:before] + text[member.end :]


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _style_of(text: str, root: int) -> _Style:
    """How the file writes its members, as its first one tells; of an empty object, as people do."""
    first = next(_members(text, root), None)
    if first is None:
        return _Style(_INDENT, " ")
    gap = "" if text[first.value - 1] == ":" else " "
    before = text[root + 1 : first.start]
    if "\n" not in before:
        return _Style("", gap)
    indent = before.rpartition("\n")[2]
    return _Style(_INDENT if indent.strip() or not indent else indent, gap)


def _dumped(value: object, depth: int, style: _Style) -> str:
    if not style.indent:
        separators = ("," + style.gap, ":" + style.gap)
        return json.dumps(value, separators=separators, ensure_ascii=False)
    text = json.dumps(value, indent=style.indent, ensure_ascii=False)
    return text.replace("\n", "\n" + style.indent * depth)


def _replaced(text: str, found: _Member, value: object, depth: int, style: _Style) -> str:
    """As it was where it holds the value already, however that is written."""
    with contextlib.suppress(ValueError):
        if json.loads(text[found.value : found.end]) == value:
            return text
    return text[: found.value] + _dumped(value, depth, style) + text[found.end :]


def _insert(text: str, at: int, new: tuple[str, object], depth: int, style: _Style) -> str:
    """As the first member: that needs no look at what comments and commas stand at the end."""
    first = next(_members(text, at), None)
    if first is not None and "\n" not in text[at : first.start]:
        style = attrs.evolve(style, indent="")
    member = f"{json.dumps(new[0])}:{style.gap}{_dumped(new[1], depth, style)}"
    if not style.indent:
        place = first.start if first else at + 1
        return text[:place] + member + ("," + style.gap if first else "") + text[place:]
    member = "\n" + style.indent * depth + member
    rest = text[at + 1 :]
    if first is not None:
        return text[: at + 1] + member + "," + rest
    closing = "" if rest.lstrip(" \t").startswith("\n") else "\n" + style.indent * (depth - 1)
    return text[: at + 1] + member + closing + rest


def _root(text: str) -> int:
    at = _object(text, _skip(text, 0))
    if _skip(text, _end(text, at, 0)) != len(text):
        raise _broken(text, len(text))
    return at


def _object(text: str, at: int) -> int:
    if text[at : at + 1] != "{":
        raise _broken(text, at, "an object is expected")
    return at


def _members(text: str, at: int, depth: int = 0) -> Iterator[_Member]:
    """The members of the object that begins at `at`."""
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        if key is None:
            raise _broken(text, at)
        colon = _skip(text, key.end())
        if text[colon : colon + 1] != ":":
            raise _broken(text, colon)
        value = _skip(text, colon + 1)
        end = _end(text, value, depth)
        yield _Member(_unquoted(text, key), at, value, end)
        at = _after_comma(text, end, "}")


def _unquoted(text: str, found: re.Match[str]) -> str:
    try:
        key: str = json.loads(found[0])
    except ValueError:
        raise _broken(text, found.start()) from None
    return key


def _end(text: str, at: int, depth: int) -> int:
    """Where the value that begins at `at` ends."""
    if depth > _MAX_DEPTH:
        raise _broken(text, at, "it is nested too deeply")
    if text[at : at + 1] == "{":
        last = at
        for member in _members(text, at, depth + 1):
            last = member.end
        return _closing(text, last if last > at else at + 1)
    if text[at : at + 1] == "[":
        at = _skip(text, at + 1)
        while text[at : at + 1] != "]":
            at = _after_comma(text, _end(text, at, depth + 1), "]")
        return at + 1
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise _broken(text, at)
    return scalar.end()


def _closing(text: str, at: int) -> int:
    at = _skip(text, at)
    if text[at] == ",":
        at = _skip(text, at + 1)
    return at + 1


def _after_comma(text: str, end: int, closing: str) -> int:
    at = _skip(text, end)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise _broken(text, at)
    return at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _broken(text: str, at: int, why: str = "it is no JSON") -> HubError:
    line = text.count("\n", 0, at) + 1
    return HubError(
        Code.CONFIG_INVALID, f"Line {line}: {why}.", hint="Correct the file, or put it in by hand.", line=line
    )
