"""Secrets that are known by what they are assigned to: `api_token = "..."`, `<clientSecret>...`, `curl -u me:...`.

Owns: the words that announce a secret, what may stand between such a word and its value, and how random a value
must look to be one.
Must not: know any provider's form (`redaction_rules` does), or hide what a program computes (`token = next(it)`).

The words are searched in the lower-case ASCII view of the text, and all the rest is looked at only where a word
stands. As in the rules, every run is possessive and of a class that the part behind it does not begin with: nothing
backtracks, and what a stream must hold back follows from the same parts.
"""

from __future__ import annotations

import re

from hub.domain.redaction_literals import Literals
from hub.domain.redaction_span import Span
from hub.domain.redaction_value import hidden_password, machine_made, mixed_password

_TAIL = "[A-Za-z0-9_.-]{0,40}+"
_CLOSE = r"[\"'`)\]\\ \t]{0,8}+"
_ASSIGN = "[=:>,.?|!]{1,5}+"
_OPEN = r"[\s(\[{]{0,24}+"
_TYPE = r"(?:[\s:,\"']{1,16}+[A-Za-z&*<>]{1,24}+)?"
"""What may stand between a name and its value's sign: `token string =`, `token: str =`, `name: TOKEN, value:`."""
_SCHEME = r"(?:[\"'`]?[A-Za-z-]{2,16}+[ ]{1,3}+)?"
"""What a header puts before its secret: `Authorization: Token ...`."""
_BARE = r"[A-Za-z0-9_./+=~@%#^&*!?:-]"
_PARTS = (_TAIL, _TYPE, _CLOSE, _ASSIGN, _OPEN, _SCHEME)
_VALUE = rf"(?:\\{{0,3}}+[\"'`](?P<quoted>[^\s\"'`\\]{{6,512}}+)|(?P<bare>{_BARE}{{6,512}}+))"
_VALUE_BEGINS = rf"(?:\\{{0,3}}+(?:[\"'`][^\s\"'`\\]{{0,512}}+)?\Z|{_BARE}{{0,512}}+\Z)"
_LOGIN = r"[ =]{1,4}+"


def _beginning(parts: tuple[str, ...], value: str) -> re.Pattern[str]:
    """The pattern of what reaches the end of the text and may become these parts and a value."""
    for part in reversed(parts):
        cut = re.sub(r"\{\d+,(\d+)\}", r"{0,\1}", part)
        value = rf"(?:{cut}\Z|{part}{value})"
    return re.compile(value)


_FULL, _BEGINS = re.compile("".join(_PARTS) + _VALUE), _beginning(_PARTS, _VALUE_BEGINS)
_USER, _USER_BEGINS = re.compile(_LOGIN + r"(\S{1,256}+)"), _beginning((_LOGIN,), r"\S{0,256}+\Z")

_WORDS = (
    b"token",
    b"secret",
    b"passw",
    b"passphrase",
    b"pwd",
    b"key",
    b"auth",
    b"credential",
    b"client_id",
    b"client-id",
    b"access_id",
    b"access-id",
    b"app_id",
    b"app-id",
    b"accessid",
)
_OPTIONS = (b" -u", b"--user")
_ANCHOR = 3
_HEADS = frozenset(word[:size] for word in (*_WORDS, *_OPTIONS) for size in range(1, len(word)))
_LONGEST = max(map(len, _HEADS))
_QUOTES = "\"'\\`,;)"
_GOES_ON = frozenset((b"(", b"[", b"{", b"$"))
"""Behind a value without quotes: it is called, indexed or put together, so it is a name."""
_SHORT, _LONG = 10, 24
_NAME = 32
_WORD_END = re.compile(rb"[a-z0-9_-]*+")
_PASSWORDS = frozenset((b"passw", b"passphrase", b"pwd"))
_STRONG_KEY = re.compile(
    rb"(?:api|access|secret|private|account|crypt|cryption|signing|sign|licen[sc]e|auth|master|app|client|deploy|shared"
    rb"|service|admin|write|read|cription|consumer|app_?lication|server|project|integration|hmac|session)[_. -]?\Z"
)
_OTHER_KEY = re.compile(rb"[a-z0-9][_-]\Z|[a-z]\Z")
_NO_SECRET = re.compile(
    rb"(?:non_?matching|not_?a|in_?valid|wrong|fake|dummy|mock|authenticity|csrf)[a-z0-9_-]*+\Z"
)
"""Names that say that their value is none, or none worth anything beyond its page."""
_CURL = re.compile(rb"\bcurl\b[^\n]*\Z")
LOOK_BACK = 160
"""How far before a word the layer looks: whether `-u` is an option of `curl`."""


class Assignments:
    """The layer that finds values by the words they are assigned to."""

    rank = 500

    def __init__(self) -> None:
        self._literals = Literals([(word.decode(), word) for word in (*_WORDS, *_OPTIONS)], _ANCHOR)

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All such values whose word begins at `lo` or later, and where one that is not whole may begin."""
        view = text.encode("ascii", "replace").lower()
        spans: list[Span] = []
        hold = len(text)
        for at, end, word in self._literals.hits(view, lo):
            full, begins, judged = (
                (_USER, _USER_BEGINS, _login) if word in _OPTIONS else (_FULL, _BEGINS, _assigned)
            )
            if not final and at < hold and begins.match(text, end):
                hold = at
            found = full.match(text, end)
            span = judged(view, at, word, found) if found is not None else None
            if span is not None:
                spans.append(span)
        if not final:
            for start in range(max(lo, len(view) - _LONGEST), hold):
                if view[start:] in _HEADS:
                    return spans, start
        return spans, hold


def _assigned(view: bytes, at: int, word: bytes, found: re.Match[str]) -> Span | None:
    """The find, if its value is one that nobody would choose as a name."""
    quoted = found["quoted"] is not None
    group = "quoted" if quoted else "bare"
    start, value = found.start(group), found[group]
    if not quoted and view[found.end() : found.end() + 1] in _GOES_ON:
        return None
    before = view[max(0, at - _NAME) : at]
    end = found.start() + len(_WORD_END.match(view, found.start())[0])  # type: ignore[index]  # it matches nothing at least
    if _NO_SECRET.search(view, max(0, at - _NAME), end):
        return None
    if not (_password(value, quoted=quoted) if word in _PASSWORDS else _drawn(word, before, value)):
        return None
    return Span(start, Assignments.rank, start + len(value), at, "generic", value)


def _password(value: str, *, quoted: bool) -> bool:
    return hidden_password(value) if quoted else mixed_password(value) or machine_made(value, _SHORT)


def _drawn(word: bytes, before: bytes, value: str) -> bool:
    """Whether the value is as random as a value of such a name has to be."""
    if word == b"key" and not _STRONG_KEY.search(before):
        return bool(_OTHER_KEY.search(before)) and machine_made(value, _LONG)
    return machine_made(value)


def _login(view: bytes, at: int, _word: bytes, found: re.Match[str]) -> Span | None:
    """The password of `curl -u name:password`, or the name where it stands alone: then that is the key."""
    if _CURL.search(view, max(0, at - LOOK_BACK), at) is None:
        return None
    user, colon, password = found[1].partition(":")
    alone = not password.strip(_QUOTES)
    value = user if alone else password
    bare = value.strip(_QUOTES)
    if not colon or not hidden_password(bare):
        return None
    start = found.start(1) + (0 if alone else len(user) + 1) + len(value) - len(value.lstrip(_QUOTES))
    return Span(start, Assignments.rank, start + len(bare), at, "curl-login", bare)
