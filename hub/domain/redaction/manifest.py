"""The values of a Kubernetes Secret: all that stands below its `data:` or `stringData:` is secret, whatever it is called.

Owns: which lines of a YAML document belong to a Secret, and where its values stand. People write the kind before the
data, `kubectl` behind it.
Must not: look into any other document, or judge a value but for what stands in the place of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge

from hub.domain.redaction.span import Span
from hub.domain.redaction.value import placeholder
from hub.domain.text.patterns import late

LIMIT = 16_384
"""Letters of a document in which a line is read that begins there, from its kind or its data on; and of such a line."""
_RANK = 400
_STARTS = ("kind: Secret", "data:", "stringData:")
_START = late(r"(?m)^([ ]{0,40}(?:- )?)(?:kind:[ ]{1,8}[\"']?Secret[\"']?|(?:stringD|d)ata:)[ \t]{0,40}\r?\n")
_WORDS = ("kind:", "ata:")
"""One of these stands in every beginning; nearly every text has none."""
_FIRST_LINE = 128
"""No line that begins a document is longer."""
_LINE = late(r"([ ]*)([^\n]*)(?:\n|\Z)")
_MEMBER = late(r"[\"']?([A-Za-z0-9._/-]{1,253})[\"']?:(?:[ \t]+|\Z)")
_DATA = frozenset(("data", "stringData"))
_AROUND = _DATA | {"apiVersion", "immutable", "kind", "metadata", "type"}
_BLOCK = late(r"[|>][+-]?[0-9]?[+-]?\Z")
_LEAST = 4
"""Letters of a value that are worth hiding."""


class Manifests:
    """The layer that finds the values of Secrets."""

    rank = _RANK

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All values of documents that begin at `lo` or later, and where one that is not whole may begin."""
        spans: list[Span] = []
        place = lo
        for at in merge(*(_places(text, word, lo) for word in _WORDS)):
            line = text.rfind("\n", max(0, at - _FIRST_LINE), at) + 1
            found = _START().match(text, line) if line >= place else None
            if found is None:
                continue
            values, place = _read(text, found, final=final)
            if not final and place == len(text) < found.start() + 2 * LIMIT:
                return spans, found.start()
            spans += (
                Span(start, _RANK, end, found.start(), "kubernetes", text[start:end]) for start, end in values
            )
        if final:
            return spans, len(text)
        last = text.rfind("\n") + 1
        begun = " ".join(re.sub("[\"']", "", text[last : last + _FIRST_LINE]).lstrip(" -").split())
        may_begin = (
            lo <= last
            and len(text) - last < _FIRST_LINE
            and any(start.startswith(begun) for start in _STARTS)
        )
        return spans, last if may_begin else len(text)


def _places(text: str, word: str, lo: int) -> Iterator[int]:
    """Where the word stands, from `lo` on: few lines hold one, and to look at each line is slow."""
    while (lo := text.find(word, lo)) >= 0:
        yield lo
        lo += len(word)


def _read(text: str, found: re.Match[str], *, final: bool) -> tuple[list[tuple[int, int]], int]:
    """The values of the document that begins there, none where it is of another kind, and its end, as far as it was read.

    Unless it is final, a text that ends within a line, or behind one of the document, is read up to its end.
    """
    margin, end = len(found[1]), found.start() + 2 * LIMIT
    values: list[tuple[int, int]] = []
    secret, member = False, ""
    place = first = found.start() + margin
    while place < min(len(text), found.start() + LIMIT):
        line = _LINE().match(text, place, end)
        assert line is not None  # noqa: S101  # it matches anything
        if not final and line.end() == len(text) < end and text[-1] != "\n":
            return [], len(text)
        indent, told = margin if place == first else len(line[1]), line[2].rstrip()
        if told and not told.startswith("#"):
            named = _MEMBER().match(told)
            if indent < margin or (indent == margin and (named is None or named[1] not in _AROUND)):
                break
            if named is not None and indent == margin:
                member = named[1]
                if member == "kind":
                    secret = told[named.end() :].strip("\"'") == "Secret"
                    if not secret:
                        break
            elif member in _DATA:
                values += _value(line.start(2), told, named)
        place = line.end()
    return values if secret else [], max(place, found.end())


def _value(start: int, told: str, named: re.Match[str] | None) -> Iterator[tuple[int, int]]:
    """Where the value of a line stands, if there is one: behind its name, or the whole line of a text in many."""
    value = told[named.end() :] if named is not None else told
    start += len(told) - len(value)
    bare = value.strip(" \t\"'")
    if len(bare) >= _LEAST and _BLOCK().match(bare) is None and not placeholder(bare):
        start += value.index(bare)
        yield start, start + len(bare)
