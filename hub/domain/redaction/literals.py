"""Finds every place where one of many literals stands, in one pass over the text.

Owns: the search, by RE2 where it is installed and by `Anchors` where it is not; both find the same.
Must not: know any secret or rule.

RE2 makes one automaton of all literals, so a letter costs two nanoseconds however many there are; `re` tries them one
after the other. Compiling takes milliseconds, so it is done when a text is first searched, not at import.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any, AnyStr, Generic, TypeVar

from hub.domain.redaction.span import Anchors

T = TypeVar("T")
Search = Callable[[bytes, int], Any]


class Literals(Generic[T]):
    """The places of ASCII literals in an ASCII view of a text.

    Args:
        literals: Pairs of a literal, of `size` letters at least, and what it stands for.
        size: By how many letters a literal is looked up.
        likely: Patterns for RE2, each beginning with a literal. What begins none of them `following` passes over when
            RE2 is installed: text full of heads without bodies then costs no more than any other.
    """

    def __init__(self, literals: Iterable[tuple[str, T]], size: int, likely: Iterable[str] = ()) -> None:
        self._pairs = list(literals)
        self._size = size
        self._likely = tuple(likely)
        self._single: dict[Callable[[], str], Search] = {}
        self._table: dict[bytes, list[tuple[bytes, T]]] = defaultdict(list)
        for literal, meaning in self._pairs:
            self._table[literal[:size].encode()].append((literal.encode(), meaning))

    def hits(self, view: bytes, lo: int) -> Iterator[tuple[int, int, T]]:
        """Every literal that stands in `view` at `lo` or later: its place, its end, and what it stands for."""
        if not self._pairs:
            return
        finditer = self._finditer
        if finditer is None:
            for start, word, meaning in self._anchors.hits(view.decode("ascii"), lo):
                yield start, start + len(word), meaning
            return
        inner = self._inner
        for found in finditer(view, lo):
            begin, end = found.span()
            for offset, any_of, pairs in inner[view[begin:end]]:
                start = begin + offset
                if view.startswith(any_of, start):
                    for literal, meaning in pairs:
                        if view.startswith(literal, start):
                            yield start, start + len(literal), meaning

    def stand_in(self, view: bytes) -> bool:
        """Whether any literal stands anywhere in `view`."""
        if self._finditer is None:
            return any(self._anchors.hits(view.decode("ascii"), 0))
        return self._whole(view, 0) is not None

    def following(self, view: bytes, lo: int) -> Callable[[int], int | None]:
        """A function that tells where a literal stands with more than it behind it, at a place or later; none: nowhere.

        It may be asked of growing places only, none before `lo`.
        """
        if self._finditer is None:
            starts = sorted({start for start, _, _ in self._anchors.hits(view.decode("ascii"), lo)})
            places = len(starts)
            return lambda place: starts[at] if (at := bisect_left(starts, place)) < places else None
        search = self._search

        def first(place: int) -> int | None:
            found = search(view, place)
            return None if found is None else int(found.start())

        return first

    def next_of(self, literal: str, likely: Callable[[], str], view: bytes, place: int) -> int | None:
        """Where this literal stands at `place` or later, as `following` would find it by that pattern."""
        search = self._single.get(likely)
        if search is None:
            own = None if self._finditer is None else pattern(likely())
            search = self._single[likely] = own or re.compile(re.escape(literal).encode()).search
        found = search(view, place)
        return None if found is None else int(found.start())

    def at(self, view: bytes, start: int) -> Iterator[tuple[bytes, T]]:
        """The literals that stand at this place, and what they stand for."""
        for literal, meaning in self._table.get(view[start : start + self._size], ()):
            if view.startswith(literal, start):
                yield literal, meaning

    @cached_property
    def _search(self) -> Search:
        search = pattern("|".join(self._likely))
        assert search is not None  # noqa: S101  # asked for only where RE2 is
        return search

    @cached_property
    def _whole(self) -> Search:
        search = pattern(
            "|".join(sorted({re.escape(literal) for literal, _ in self._pairs})) or r"[^\x00-\xff]"
        )
        assert search is not None  # noqa: S101  # asked for only where RE2 is
        return search

    @cached_property
    def _finditer(self) -> Search | None:
        return automaton(sorted({literal for literal, _ in self._pairs}))

    @cached_property
    def _inner(self) -> dict[bytes, list[tuple[int, tuple[bytes, ...], list[tuple[bytes, T]]]]]:
        """Which may begin in each literal, and where: RE2 goes on behind what it found, and literals may overlap."""
        pairs, size = [*itertools.chain(*self._table.values())], self._size
        heads: dict[bytes, list[tuple[bytes, T]]] = defaultdict(list)
        for pair, end in itertools.product(pairs, range(1, size + 1)):
            heads[pair[0][:end]].append(pair)
        return {
            literal: [
                (at, tuple(other for other, _ in agreed), agreed)
                for at in range(len(literal))
                if (
                    agreed := [
                        pair for pair in heads[literal[at : at + size]] if _agree(literal[at:], pair[0])
                    ]
                )
            ]
            for literal in {literal for literal, _ in pairs}
        }

    @cached_property
    def _anchors(self) -> Anchors[T]:
        return Anchors(self._pairs, self._size)


def _agree(one: bytes, other: bytes) -> bool:
    """Whether one of them begins with the other."""
    return one.startswith(other) or other.startswith(one)


def automaton(literals: Iterable[str]) -> Search | None:
    """RE2's search for all of the literals, by text and place; none where RE2 is not installed."""
    re2 = _re2()
    if re2 is None:
        return None
    finditer: Search = _compiled(re2, "|".join(map(re2.escape, literals))).finditer
    return finditer


def pattern(text: str) -> Search | None:
    """RE2's search for the first match of a pattern, by text and place; none where RE2 is not installed."""
    re2 = _re2()
    if re2 is None:
        return None
    search: Search = _compiled(re2, text).search
    return search


def _compiled(re2: Any, text: str) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(text.encode(), options)


@cache
def _re2() -> Any:
    try:
        import re2  # 10 ms, and not on every platform
    except ImportError:
        return None
    return re2


class Heads(Generic[AnyStr]):
    """What words begin with: a text that ends in one may go on with the word."""

    def __init__(self, words: Iterable[AnyStr]) -> None:
        self._heads: set[AnyStr] = {word[:size] for word in words for size in range(1, len(word))}
        self._sizes: dict[AnyStr, list[int]] = defaultdict(list)
        for head in sorted(self._heads, key=len, reverse=True):
            if len(head) not in (sizes := self._sizes[head[-1:]]):
                sizes.append(len(head))
        self.longest = max(map(len, self._heads))

    def begun(self, text: AnyStr, lo: int) -> int:
        """Where the longest begins that `text` ends in, at `lo` or later; else its end."""
        for size in self._sizes.get(text[-1:], ()):
            if lo <= len(text) - size and text[-size:] in self._heads:
                return len(text) - size
        return len(text)
