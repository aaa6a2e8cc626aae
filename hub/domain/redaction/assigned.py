"""Secrets that are known by what they are assigned to: `api_token = "..."`, `<clientSecret>...`, `curl -u me:...`.

Owns: what may stand between a word that announces a secret and its value, and how random a value must look to be one.
Must not: know any provider's form (`rules` does) or such a word (`words` does), or hide what a program computes
(`token = next(it)`).

The words are searched in the lower-case ASCII view of the text, and all the rest is looked at only where a word
stands. As in the rules, every run is possessive and of a class that the part behind it does not begin with: nothing
backtracks, and what a stream must hold back follows from the same parts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from heapq import merge

from hub.domain.redaction import grammar, words
from hub.domain.redaction.given import (
    LOOK_BACK,
    RANK,
    argument,
    cookies,
    cookies_given,
    given,
    hooked,
    login,
    paired,
)
from hub.domain.redaction.literals import Heads, Literals
from hub.domain.redaction.names import names_another, names_no_secret, within_another
from hub.domain.redaction.rule import Runs, matched_end
from hub.domain.redaction.span import Span
from hub.domain.redaction.value import (
    hidden_password,
    machine_made,
    mixed_password,
    placeholder,
    said_password,
    token_made,
)
from hub.domain.text.patterns import late

_TELLS_NOTHING = "^0-9!@#$%^&*"
_PLAIN = ("^0-9A-Z!@#$%^&*", "^0-9a-z!@#$%^&*")
"""No secret that a name announces has letters of one of these classes only."""
_ANCHOR = 3
_HEADS, _HEADS_ABROAD = Heads((*words.WORDS, *words.OPTIONS)), Heads(words.OTHER_SCRIPTS)
_OPENED = b"\"'`\\ brfun"
"""Between a call's bracket and what it is called with."""
_SHORT, _LONG, _UNSAID, _ALONE_LEAST = 10, 16, 20, 32
_TELLING = (b" is", b" was", b" to", b" by", b" ist", b" lautet", b" est", b" es", b":", b" --value")
"""What stands before a value that a sentence tells."""
_MANY = 64
"""Words in a row that say nothing, from which on it is worth a look whether the text repeats itself."""
_PERIOD = 32_768
_NESTED = 128
_NEEDED = {word: "^\"'`" for word in words.KEYED if word != b"login"}
_NEEDED |= {option: "^:" for option in words.OPTIONS if option.endswith((b"u", b"user"))}
"""The letters without which nothing is told: the quotes of an argument, and the colon of a login."""
_ASKED = 300
"""No reading of such a word is longer."""
_PAIR = r"^\s;\"'`\\,"
_NAME = 32
_NAME_BEGIN = re.compile(rb"[a-z0-9]++\Z")
_WORD_END = re.compile(rb"[a-z0-9_-]*+")
_LISTED = late(rb"[^=:>]*,[^=:>]*")
"""A comma and no sign of assignment: the next of a list, which a word before it does not name for sure."""
_DASHED = late(rb"(?:\A|[\s\"'`({])(?:--?|:)[a-z0-9_-]*\Z")
"""`--api-key value`; `:api-key "value"` of Lisp and Ruby."""
_SET = late(
    rb"[ \t]*(?:[a-z]{2,12} ){0,2}(?:env|setenv|setx|set)[ \t]+(?:-[a-z]{1,8}[ \t]+){0,3}[a-z0-9_./:-]*\Z"
)
"""`ENV NAME value` of a Dockerfile, and the like of shells and programs: `npm config set //host/:_authToken value`."""
_DIRECTIVE = late(rb"[ \t]*[a-z0-9_.-]*\Z")
"""A line that begins with the name, as `requirepass ...` in the configuration of a server."""
_OTHER_MATTER = late(
    rb"(?<![-\w])(?:ids?|hash|digest|fingerprint|checksum|types?|names?|paths?|files?|ur[il]s?|versions?|public|length|count)\b"
)
"""What a sentence about a secret is about instead."""
_LOGGED_IN = late(rb"\blogin[ \t]+[^\s\[\]]{1,64}+\s{1,8}\Z")
_LABELLED = late("(?:[A-Za-z]{3,}[-_]){2}")
"""What a key of a cache begins with: `Linux-node-...`."""
_SIGN = late(grammar.TAIL + r"([^\w-]|\Z)")
"""What every reading of a name asks for: that it ends."""


class Assignments:
    """The layer that finds values by the words they are assigned to."""

    rank = RANK

    def __init__(self) -> None:
        self._literals = Literals([(word.decode(), word) for word in (*words.WORDS, *words.OPTIONS)], _ANCHOR)

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All such values whose word begins at `lo` or later, and where one that is not whole may begin."""
        view = text.encode("ascii", "replace").lower()
        looks = _Looks(text, view, final=final)
        worthwhile = self._worthwhile(text, view, lo, looks, final=final)
        for at, end, word in merge(worthwhile, words.in_other_scripts(text, view, lo)):
            if at > looks.hold:
                break  # behind what may go on all is looked at again when there is more text
            looks.at(at, end, word)
        spans, hold = looks.spans, looks.hold
        if not final:
            hold = min(hold, _HEADS.begun(view, lo), _HEADS_ABROAD.begun(text, lo))
        return spans, hold

    def _worthwhile(
        self, text: str, view: bytes, lo: int, looks: _Looks, *, final: bool
    ) -> Iterator[tuple[int, int, bytes]]:
        """The words that a secret may follow: what none is without is in reach. What repeats what said nothing is not."""
        runs, place = Runs(text), lo
        while True:
            for at, end, word in self._literals.hits(view, place):
                if at < looks.repeated:
                    place = looks.repeated
                    break
                if word in words.SHORT and within_another(view, at, end):
                    continue
                told = _told_at_once(view, at, end, word, runs, final=final)
                if told:
                    yield at, end, word
                if told is not None:
                    continue
                ahead = max(runs.end(_PLAIN[0], end), runs.end(_PLAIN[1], end))
                if ahead == len(text) and final:
                    ahead += 2 * _FAR
                if ahead - end <= (_FAR if word == b"cookie" else _NEAR):
                    yield at, end, word
                elif ahead - end > 2 * _NEAR:
                    place = min(ahead - _NEAR - _HEADS.longest, len(text))
                    others = [view.find(b"cookie", max(at + 1, ahead - _FAR - _HEADS.longest), place)]
                    others += [view.find(option, at + 1, place) for option in words.OPTIONS]
                    place = min([other for other in others if other >= 0], default=place)
                    break
            else:
                return


def _told_at_once(view: bytes, at: int, end: int, word: bytes, runs: Runs, *, final: bool) -> bool | None:
    """Whether a secret may follow a word, as far as one look tells: by what stands before, and what it needs."""
    needed = _NEEDED.get(word)
    if needed is not None:
        without = runs.end(needed, end)
        if without - end > _ASKED or (final and without == len(view)):
            return False
    if word in words.OPTIONS:
        names = words.OPTIONS[word]
        return not names or any(view.rfind(name, max(0, at - LOOK_BACK), at) >= 0 for name in names)
    return True if runs.end(_TELLS_NOTHING, end) - end < _NEAR else None


class _Looks:
    """What is known of one text while it is read: a text may be full of words, and repeat itself."""

    def __init__(self, text: str, view: bytes, *, final: bool) -> None:
        self._text, self._view, self._final = text, view, final
        self._runs = Runs(text)
        self._hidden = 0
        """Before which place a value stands that is hidden."""
        self._silent, self._since, self._reach = 0, 0, _NEAR
        """How many words in a row said nothing, behind which place they stand, and how far they may reach."""
        self._cookie, self._judged = 0, 0
        """Behind the last word of a header that was looked at, and before which place its value was judged with it."""
        self.repeated = 0
        """Before which place the text repeats what said nothing."""
        self.spans: list[Span] = []
        self.hold = len(text)

    def at(self, at: int, end: int, word: bytes) -> None:
        """Look at a word, unless its value would begin within a hidden one."""
        far = word in _FAR_READING
        if far:
            if at < self._judged and self._runs.end(_PAIR, self._cookie) >= at:
                return
            self._cookie, self._judged = end, end + _NESTED
        hidden = not far and end + grammar.SIGNS < self._hidden and word not in words.OPTIONS
        if hidden or self._look(at, end, word):
            self._silent, self._since, self._reach = 0, end, _NEAR
            return
        self._silent += 1
        self._reach = _FAR if far else self._reach
        if self._silent >= _MANY and self._silent.bit_count() == 1:
            self.repeated = self._repetition(at, end) - self._reach - _HEADS.longest

    def _repetition(self, at: int, end: int) -> int:
        """Where the text ends to repeat what stood around a word since all have said nothing; 0 where it does not."""
        text, begin, size = self._text, at - LOOK_BACK, end + self._reach - at + LOOK_BACK
        first = max(self._since + 1, begin - _PERIOD)
        before = text.find(text[begin : begin + size], first, begin + size - 1) if begin > first else -1
        if before < 0 or begin + size > len(text):
            return 0
        while begin + size < len(text) and text.startswith(text[begin : begin + size], before):
            size *= 2
        sizes = range(min(size, len(text) - begin))
        return begin + bisect_left(
            sizes, True, key=lambda same: not text.startswith(text[begin : begin + same + 1], before)
        )

    def _look(self, at: int, end: int, word: bytes) -> bool:
        """Whether the word says anything, or may."""
        text, says = self._text, False
        for reading in _readings(text, self._view, at, end, word):
            may_go_on = not self._final and at < self.hold and len(text) - end <= reading.reach
            if may_go_on and reading.begins().match(text, end):
                self.hold, says = at, True
            found = reading.full().match(text, end)
            span = reading.judged(self._view, at, word, found) if found is not None else None
            if span is not None:
                self.spans.append(span)
                says = True
                if found is not None and (
                    reading.judged is hooked or (reading.judged is _assigned and found["bare"])
                ):
                    self._hidden = span.end
                if word in _FAR_READING:
                    self._judged = max(self._judged, span.end - _NESTED)
        return says


def _readings(text: str, view: bytes, at: int, end: int, word: bytes) -> tuple[_Reading, ...]:
    """How a word at a place may announce a secret."""
    if word in _OF_THEIR_OWN:
        return _OF_THEIR_OWN[word]
    if word in words.OPTIONS:
        return (
            _COOKIES_GIVEN
            if word == b" -b"
            else _LOGINS
            if b"curl" in words.OPTIONS[word] or word == b"--user"
            else _PASSWORDS_GIVEN
        )
    if word in words.SHORT:
        return _SPACED_PASSES if _spaced(view, at, word) else _PASSES
    sign = _SIGN().match(text, end)
    if sign is None:
        return ()
    names: tuple[_Reading, ...] = (
        _SPACED_NAMES if sign[1] in ("", " ") and _spaced(view, at, word) else _NAMES
    )
    if word in words.CALLED:
        names = (*names, _SENTENCE, _STATEMENT)
    elif word in words.LOGINS:
        names = (*names, _PAIR_OF_LOGIN, *_KEYED)
    elif word == b"login":
        names = (*_KEYED, *_SPACED_NAMES)
    return _opened(names, sign[1]) if sign[1].isascii() else names


@cache
def _opened(readings: tuple[_Reading, ...], sign: str) -> tuple[_Reading, ...]:
    """Those of them in which this may stand behind a name."""
    return tuple(reading for reading in readings if reading.begins().match(sign))


def _spaced(view: bytes, at: int, word: bytes) -> bool:
    """Whether a value may stand behind a blank: that of a program's option, and the password of a `.netrc`."""
    low, far = max(0, at - _NAME), max(0, at - LOOK_BACK)
    if not view[at - 1 : at].isspace() and _DASHED().search(view, low, at):
        return True
    line = view.rfind(b"\n", far, at) + 1
    begins = line > 0 or far == 0
    if begins and _SET().match(view, line, at) is not None:
        return True
    return word in words.PASSWORDS and (
        (begins and line >= low and _DIRECTIVE().match(view, line, at) is not None)
        or (view.rfind(b"login", far, at) >= 0 and _LOGGED_IN().search(view, far, at) is not None)
    )


def _assigned(view: bytes, at: int, word: bytes, found: re.Match[str]) -> Span | None:
    """The find, if its value is one that nobody would choose as a name."""
    quoted = found["quoted"] is not None
    group = "quoted" if quoted else "bare"
    start, value = found.start(group), found[group]
    if not quoted and names_another(value, view[found.start() : start], view[found.end() : found.end() + 1]):
        return None
    called = view[found.start() : start].rstrip(_OPENED).endswith(b"(")
    if word in words.SHORT or (called and word in words.PASSWORDS):
        secret = said_password(value)
    elif word in words.PASSWORDS:
        listed = _LISTED().fullmatch(view, found.start(), start) is not None
        secret = _password(value, quoted=quoted and not listed)
    else:
        secret = _drawn(word, view[max(0, at - _NAME) : at], value)
        user, colon, password = value.partition(":")
        a_pair = word in words.LOGINS and colon and user.isalnum() and not placeholder(value)
        if a_pair and not secret and said_password(password):
            secret, start, value = True, start + len(user) + 1, password
    if not secret or _names_none(view, at, word, found):
        return None
    return Span(start, RANK, start + len(value), at, "generic", value)


def _told(view: bytes, at: int, word: bytes, found: re.Match[str]) -> Span | None:
    """The same for what a sentence tells, or a call is given: then quoted, and nothing else stands between."""
    quoted = found["quoted"] is not None
    start, value = found.span("quoted" if quoted else "bare")[0], found["quoted"] or found["bare"]
    between = view[matched_end(_WORD_END, view, found.start()) : start].rstrip(b" \t\r\n'")
    if not quoted and not between.endswith(_TELLING) and (between.strip(b" -") or not _unsaid(word, value)):
        return None
    if _OTHER_MATTER().search(between) or view.endswith(b"public ", 0, at):
        return None
    value = value.rstrip(".,;:!?") if not quoted else value
    secret = (
        said_password(value)
        if word in words.PASSWORDS
        else _drawn(word, view[max(0, at - _NAME) : at], value)
    )
    if not secret or _names_none(view, at, word, found):
        return None
    return Span(start, RANK, start + len(value), at, "generic", value)


def _unsaid(word: bytes, value: str) -> bool:
    """Whether a value is none that a sentence goes on with behind the bare name: `a login with token ...`."""
    return "---" not in value and machine_made(value, _SHORT if word in words.PASSWORDS else _UNSAID)


def _names_none(view: bytes, at: int, word: bytes, found: re.Match[str]) -> bool:
    """Whether the whole name says that its value is no secret, or is none: an id in which the word stands by chance."""
    low, tail = max(0, at - _NAME), found.start()
    end = matched_end(_WORD_END, view, tail)
    if (word == b"_pass" and end > tail) or names_no_secret(view, low, end):
        return True
    name = _NAME_BEGIN.search(view, low, at)
    return name is not None and machine_made(found.string[name.start() : at] + found.string[tail:end])


def _password(value: str, *, quoted: bool) -> bool:
    return hidden_password(value) if quoted else mixed_password(value) or machine_made(value, _SHORT)


def _drawn(word: bytes, before: bytes, value: str) -> bool:
    """Whether the value is as random as a value of such a name has to be."""
    if word == b"key" and not words.STRONG_KEY().search(before):
        if not before[-1:].isalnum() and before[-1:] not in (b"_", b"-"):
            told = value.islower() or value.isupper() or _LABELLED().match(value) is not None
            return not told and machine_made(value, _ALONE_LEAST)
        return bool(words.OTHER_KEY().search(before)) and machine_made(value, _LONG)
    return token_made(value)


_Judge = Callable[[bytes, int, bytes, re.Match[str]], Span | None]


class _Reading:
    """One way in which a word announces a secret.

    Attributes:
        full: The pattern of it.
        begins: That of what reaches the end of the text and may become `full`.
        judged: Whether it is a secret.
        reach: No beginning is longer.
    """

    def __init__(self, full: str, begins: str, judged: _Judge) -> None:
        self.full = late(full)
        self.begins = late(begins)
        self.judged = judged
        self.reach = sum(map(int, re.findall(r"\{\d+,(\d+)\}", begins)))


_NAMES = (
    _Reading(grammar.FULL, grammar.BEGINS, _assigned),
    _Reading(grammar.ELEMENTS, grammar.ELEMENT_BEGINS, _assigned),
    _Reading(grammar.DEFAULTS, grammar.DEFAULT_BEGINS, _assigned),
)
_SPACED_NAMES = (*_NAMES, _Reading(grammar.OPTION, grammar.OPTION_BEGINS, _assigned))
_SENTENCE = _Reading(grammar.SAID, grammar.SAID_BEGINS, _told)
_STATEMENT = _Reading(grammar.PROSED, grammar.PROSED_BEGINS, _told)
_PASSES = (_Reading(grammar.PASS, grammar.PASS_BEGINS, _assigned),)
_SPACED_PASSES = (*_PASSES, _SPACED_NAMES[-1])
_KEYED = (_Reading(grammar.ARGUMENTS, grammar.ARGUMENTS_BEGIN, argument),)
_PAIR_OF_LOGIN = _Reading(grammar.PAIRED, grammar.PAIRED_BEGINS, paired)
_COOKIE = (_Reading(grammar.COOKIES, grammar.COOKIES_BEGIN, cookies),)
_OF_THEIR_OWN: dict[bytes, tuple[_Reading, ...]] = {
    b"cookie": _COOKIE,
    **{word: _KEYED for word in words.KEYED if word != b"login"},
    b"hook": (_Reading(grammar.HOOKS, grammar.HOOKS_BEGIN, hooked),),
}
_COOKIES_GIVEN = (_Reading(grammar.JARRED, grammar.JARRED_BEGINS, cookies_given),)
_PASSWORDS_GIVEN = (_Reading(grammar.PASSWORD, grammar.PASSWORD_BEGINS, given),)
_LOGINS = (_Reading(grammar.USER, grammar.USER_BEGINS, login),)
_NEAR = max(
    reading.reach
    for reading in (*_SPACED_NAMES, *_SPACED_PASSES, *_KEYED, _SENTENCE, _STATEMENT, _PAIR_OF_LOGIN)
)
_FAR = max(reading.reach for reading in _COOKIE)
"""How far a value may reach behind a word, and behind that of a header which holds many."""
_FAR_READING = (b"cookie", b" -b")
"""The words of such headers."""
