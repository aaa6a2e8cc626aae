"""Top-level symbols of a source file.

Owns: finding them, and leaving out what only stands in a string or a comment.
Must not: know a language (each has a table), read a file, or take more than linear time.

Theory of operation. A definition at the top level begins its line in all of the languages, so one anchored
alternation finds it in a tenth of a parser's time. What such a pattern cannot know is whether the line stands in a
string or a comment. So the marks that open and close those of several lines are counted, which costs next to nothing
and is wrong now and then, where a quote is quoted. Only where the count leaves a doubt, in one file of thirty, are all
strings and comments of the file read in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import attrs

from hub.domain.code.language import Found, Span
from hub.domain.code.table import LANGUAGES

MAX_SYMBOLS = 10_000
"""Of one file; a table of generated constants may have more."""
MAX_NAME = 200
"""Bytes of a longer name that are kept: nobody has written it."""
_BOM = b"\xef\xbb\xbf"


@attrs.frozen
class Symbol:
    """Something that a file defines at its top level."""

    name: str
    kind: str
    """function, method, class, interface, type, constant, variable..., as the language calls it."""
    line: int
    """From 1."""


def symbols(language: str, body: bytes) -> list[Symbol]:
    """The top-level symbols of a file, in order; a name that is defined twice is there twice.

    Never raises on any bytes. Time is linear in the size of `body`.

    Args:
        language: As `language_of` calls it; there are no symbols in one that it does not know.
        body: The file.
    """
    table = LANGUAGES.get(language)
    if table is None:
        return []
    text = b"\n" + body.removeprefix(_BOM)
    finds = list(islice(table.find(text), MAX_SYMBOLS))
    if any(_odd(text, finds, toggle) for toggle in table.toggles) or any(
        _open(text, finds, *pair) for pair in table.pairs
    ):
        inside = set(_covered(finds, table.opaque(text)))
        finds = [each for each in finds if each not in inside]
    return list(_numbered(text, finds))


def _odd(text: bytes, finds: Sequence[Found], toggle: bytes) -> bool:
    """Whether a find, or the end, has an odd number of quotation marks before it."""
    if not finds or toggle not in text:
        return False
    last, odd = 0, 0
    for each in finds:
        odd ^= text.count(toggle, last, each.at) & 1
        if odd:
            return True
        last = each.at
    return bool(text.count(toggle, last) & 1)


def _open(text: bytes, finds: Sequence[Found], opener: bytes, closer: bytes) -> bool:
    """Whether a find comes after an opening mark with no closing one between them."""
    if opener not in text:
        return False
    last = 0
    for each in finds:
        opened = text.rfind(opener, last, each.at)
        if opened >= 0 and text.find(closer, opened + len(opener), each.at) < 0:
            return True
        last = each.at
    return False


def _covered(finds: Sequence[Found], spans: Iterable[Span]) -> list[Found]:
    """The finds that lie in one of the spans; both are in order."""
    inside: list[Found] = []
    at = 0
    for start, end in spans:
        while at < len(finds) and finds[at].at < start:
            at += 1
        while at < len(finds) and finds[at].at < end:
            inside.append(finds[at])
            at += 1
        if at == len(finds):
            break
    return inside


def _numbered(text: bytes, finds: Iterable[Found]) -> Iterator[Symbol]:
    """The finds with their lines."""
    line, at = 0, 0
    for each in finds:
        line += text.count(b"\n", at, each.at)
        at = each.at
        yield Symbol(each.name[:MAX_NAME].decode("utf-8", "replace"), each.kind, line)
