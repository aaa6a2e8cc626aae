"""A maintained detection engine as a layer: what it is asked, and what its answers mean in a stream.

Owns: the seam (`Engine`), and the cutting of text into the tokens that an engine is asked about.
Must not: import an engine, or know one's rules.

An engine reads whole texts and looks as far around as it likes; a stream has pieces. So what counts is the answer
about one *token* (letters without a blank or quote between them) behind what stands before it on its line. What the
engine says then depends on nothing that a cut could change. Most tokens are words: only one with a long run of letters
and digits mixed is worth a question.

What a service is called is no name for a secret. Where an engine sees one only because a service is named on the line,
a word that announces a secret has to stand there too, as it has to for hub's own names.

A question alone costs ten times what reading it costs. So the questions of a text are first asked together, each on
its own and far from the others: where the engine sees nothing there, it would see nothing in the question alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

from hub.domain.redaction.span import Span
from hub.domain.text.patterns import late

LOOK_BACK = 160
"""How far before a token its line is shown to the engine."""
LONGEST = 512
"""Of a longer token only the beginning is judged: it is data, not a key."""
APART = "\n" * 16
"""What stands between questions asked together: an end to every rule, and more line ends than any passes over."""
_TOGETHER, _FEW = 65_536, 2
"""Characters in one asking, about; and the number of questions from which on together is cheaper."""
_REMEMBERED = 4096
_SHORTEST = 12
_RUN = b"a" * _SHORTEST
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_SIGNS = b"_.~+/=:@%#&?!*^|$;,-"
_RUNS = bytes(0x61 if code in _LETTERS else 0x20 for code in range(256))
_TOKENS = bytes(0x61 if code in _LETTERS + _SIGNS else 0x20 for code in range(256))
_UUID = re.compile("(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_UUID_SIZE = 36
"""Every line of an agent has one, and a service that uses them as keys is known by the name before it."""


Answer = Sequence[tuple[int, int, str]]


_IDS = (
    *("toolu_", "srvtoolu_", "msg_", "req_", "call_", "chatcmpl-", "resp_", "fc_", "rs_", "ses_", "prt_"),
    *("sha1-", "sha1:", "sha256-", "sha256:", "sha384-", "sha512-", "sha512:"),
)
"""What ids begin with that model servers and agents give to messages, calls and answers, and digests; no key does."""


_RETIRED = ("v1.0-",)
"""What keys begin with that open nothing any more: Cloudflare has taken no service key since 30 September 2026."""
_ANNOUNCED = late(
    "(?i)key|token|secret|pass|pwd|auth|cred|cookie|bearer|access|session|sign|webhook|licen[cs]e|client|login|account"
)
"""A word that says that a secret follows. It may say so of what is none, but only where an engine sees one as well."""


class Engine(Protocol):
    """A detection engine; the same text has the same finds."""

    def find(self, text: str) -> Answer:
        """Begin, end and kind (`[a-z0-9-]{1,32}`) of every secret in `text`."""


class EngineLayer:
    """The engine's finds, a token at a time."""

    rank = 600

    def __init__(self, engine: Engine) -> None:
        self._find = engine.find
        self._answers: dict[str, Answer] = {}
        """What was answered of late: ids come with every line of an agent."""

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All finds in tokens that begin at `lo` or later, and where the last one begins if it may go on."""
        hold = len(text)
        data = text.encode("ascii", "replace")
        view = data.translate(_TOKENS)
        if not final:
            begin = _begin(view, hold)
            hold = begin if begin is not None and begin >= lo else hold
        questions = [
            (text[origin:end], origin, start)
            for start, end in _tokens(text, data.translate(_RUNS), view, lo)
            for origin in (_line(text, start),)
        ]
        if not questions:
            return [], hold
        answers = self._learn({question for question, _, _ in questions})
        return [
            span
            for question, origin, start in questions
            if answers[question]
            for span in self._judged(text, answers[question], origin, start)
        ], hold

    def _judged(self, text: str, answer: Answer, origin: int, start: int) -> Iterator[Span]:
        """The finds within a token; found by the token as a whole, so a stream holds it as a whole."""
        for first, last, kind in answer:
            at, stop = max(origin + first, start), origin + last
            if at < stop:
                yield Span(at, self.rank, stop, start, kind, text[at:stop])

    def _learn(self, asked: set[str]) -> Mapping[str, Answer]:
        """The answers to these questions and to some more."""
        new = [question for question in asked if question not in self._answers]
        if len(self._answers) + len(new) > _REMEMBERED:
            new, self._answers = list(asked), {}
        for worth in portions(new):
            seen = self._seen(worth) if len(worth) >= _FEW else worth
            self._answers.update(dict.fromkeys(worth, ()))
            self._answers.update((question, self._worth_hiding(question)) for question in seen)
        return self._answers

    def _worth_hiding(self, question: str) -> Answer:
        """The finds in a question, but for those that rest on a service's name alone, and for keys that open nothing."""
        return [
            (first, last, kind)
            for first, last, kind in self._find(question)
            if not question.startswith(_RETIRED, first)
            and (_ANNOUNCED().search(question, 0, first) or self._find(question[first:last]))
        ]

    def _seen(self, questions: Sequence[str]) -> set[str]:
        """Those in which the engine sees something when it reads all of them at once."""
        begins = list(accumulate((len(question) + len(APART) for question in questions), initial=0))
        places = self._find(APART.join(questions))
        return {
            questions[number]
            for first, last, _ in places
            for number in range(bisect_right(begins, first) - 1, bisect_right(begins, last - 1))
        }


def portions(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in portions of a size that an engine reads at once."""
    portion: list[str] = []
    size = 0
    for text in texts:
        portion.append(text)
        size += len(text)
        if size > _TOGETHER:
            yield portion
            portion, size = [], 0
    yield portion


def _line(text: str, start: int) -> int:
    """Where the engine begins to read for a token: behind the last line end or marker, not far back."""
    low = max(0, start - LOOK_BACK)
    return max(low, text.rfind("\n", low, start) + 1, text.rfind("]", low, start) + 1)


def _tokens(text: str, runs: bytes, view: bytes, lo: int) -> Iterator[tuple[int, int]]:
    """The tokens that begin at `lo` or later and have a long run of letters and digits mixed."""
    place = runs.find(_RUN, lo)
    while place >= 0:
        end = runs.find(b" ", place)
        end = end if end >= 0 else len(runs)
        if _mixed(text[place : min(end, place + LONGEST)]):
            begin = _begin(view, place)
            if begin is not None and begin >= lo and _asked_for(text, begin, place, end):
                end = view.find(b" ", end)
                end = end if end >= 0 else len(view)
                if end - begin != _UUID_SIZE or not _UUID(text, begin, end):
                    yield begin, min(end, begin + LONGEST)
        place = runs.find(_RUN, end)


def _mixed(letters: str) -> bool:
    return not letters.isalpha() and not letters.isdigit()


def _asked_for(text: str, begin: int, place: int, end: int) -> bool:
    """Whether the token is no known id, and the run is long and mixed in that part of it which is judged."""
    if text.startswith(_IDS, begin):
        return False
    limit = begin + LONGEST
    return end <= limit or (place + _SHORTEST <= limit and _mixed(text[place:limit]))


def _begin(view: bytes, end: int) -> int | None:
    """Where the token that reaches `end` begins; none if it is longer than is judged."""
    low = max(0, end - LONGEST)
    gap = view.rfind(b" ", low, end)
    return None if gap < 0 and end - low == LONGEST else max(gap + 1, low)
