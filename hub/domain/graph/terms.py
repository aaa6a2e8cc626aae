"""Words of code and words of questions, cut the same way.

Owns: how an identifier falls into words, which words of a question are looked for, and the index's query syntax.
Must not: know where the index is kept, or rank what is found.

`getUserName`, `get_user_name` and `user.getName` are words for whoever asks. The index cuts at everything that is
neither letter nor digit by itself; `spaced` adds the cuts inside of camelCase, in what is indexed and in what is asked.
An identifier is asked for as a phrase: its words in that order, side by side.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

MAX_TERMS = 16
MAX_WORDS = 32
_LOWER, _UPPER, _OTHER = b"a"[0], b"A"[0], b" "[0]
_CLASSES = (
    bytes(
        _LOWER if chr(c).islower() or chr(c).isdigit() else _UPPER if chr(c).isupper() else _OTHER
        for c in range(128)
    )
    + bytes([_OTHER]) * 128
)
_TOKEN = re.compile(r"\w+(?:[.\-/:]+\w+)*")
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    {
        "a", "about", "after", "all", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by",
        "can", "could", "did", "do", "does", "done", "for", "from", "get", "gets", "given", "had", "has", "have",
        "how", "i", "if", "in", "into", "is", "it", "its", "let", "me", "my", "of", "on", "or", "our", "out", "over",
        "should", "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
        "those", "to", "up", "use", "used", "uses", "using", "was", "way", "we", "what", "when", "where", "which",
        "while", "who", "why", "will", "with", "would", "you", "your",
    }
)  # fmt: skip
"""Words that questions are made of; they say nothing about what is asked."""


def spaced(text: str) -> str:
    """The text with a space at each cut inside of a camelCase word: `HTTPServer` -> `HTTP Server`. ASCII only.

    What is indexed was cut by it: a change needs a step between versions of `graph.db` (`hub.io.graph.schema`).
    """
    data = text.encode("utf-8", "replace")
    classes = data.translate(_CLASSES)
    cuts = sorted([*_after(b"aA", classes), *_after(b"AAa", classes)])
    if not cuts:
        return text
    pieces = [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return b" ".join(pieces).decode()


def _after(shape: bytes, classes: bytes) -> Iterator[int]:
    """Where the first character of each such place ends. `find` is three times as fast here as one pattern."""
    at = classes.find(shape)
    while at >= 0:
        yield at + 1
        at = classes.find(shape, at + len(shape) - 1)


def terms(question: str) -> tuple[tuple[str, ...], ...]:
    """What a question looks for, each once: the words of one identifier, or one word. Lower case.

    Words that every question has are left out, unless there is nothing else.
    """
    found = [words for token in _TOKEN.findall(question) if (words := _words(token))]
    telling = [words for words in found if len(words) > 1 or words[0] not in _STOP]
    return tuple(dict.fromkeys(telling or found))[:MAX_TERMS]


def _words(token: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(spaced(token)))[:MAX_WORDS]


def loosened(found: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The terms, and each word of an identifier by itself: what an approximate match may do with."""
    parts = [(*([words] if len(words) > 1 else []), *((word,) for word in words)) for words in found]
    return tuple(
        dict.fromkeys(part for group in parts for part in group if len(part) > 1 or part[0] not in _STOP)
    )


def phrase(words: Iterable[str]) -> str:
    """One term in the index's query syntax. Words hold letters and digits only, so nothing needs escaping."""
    return '"' + " ".join(words) + '"'


def all_of(found: Collection[tuple[str, ...]]) -> str:
    """The query for what holds every term."""
    return " AND ".join(phrase(words) for words in found)


def any_of(found: Collection[tuple[str, ...]]) -> str:
    """The query for what holds one of them."""
    return " OR ".join(phrase(words) for words in found)
