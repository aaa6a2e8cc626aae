"""Secrets that a program or a call is given, cookies, and addresses of hooks: `curl -u me:...`, `login("me", "...")`.

Owns: which part of what follows is the secret.
Must not: know the options and programs (`words` does), or what else announces a secret (`assigned` does).
Tests: tests/hub/domain/redaction/test_assigned.py
"""

from __future__ import annotations

import re

from hub.domain.redaction import words
from hub.domain.redaction.span import Span
from hub.domain.redaction.value import drawn, hidden_password, machine_made, placeholder, said_password
from hub.domain.text.patterns import late

RANK = 500
"""Of all that is found by the word before it."""
LOOK_BACK = 160
"""How far before a word one looks: whether `-u` is an option of `curl`."""
_QUOTES = "\"'\\`,;)"
_LOGIN = 10
_PAIR = late("=([^;]+)")
_SESSION = 16
_ARGUMENT = late(r"[\"'`]([^\s\"'`\\]{8,200})[\"'`]")
_PARTS = late(r"[^/?=&]{14,}")


def _login_secret(value: str) -> bool:
    return hidden_password(value) or (len(value) >= _LOGIN and not placeholder(value) and drawn(value))


def login(view: bytes, at: int, word: bytes, found: re.Match[str]) -> Span | None:
    """The password of `curl -u name:password`, or the name where it stands alone: then that is the key."""
    known = words.CURL().search(view, max(0, at - LOOK_BACK), at) is not None
    if not known and word != b"--user":
        return None
    user, colon, password = found[1].partition(":")
    alone = not password.strip(_QUOTES)
    value = user if alone else password
    bare = value.strip(_QUOTES)
    if not colon or not (_login_secret(bare) if known else said_password(bare) and not alone):
        return None
    start = found.start(1) + (0 if alone else len(user) + 1) + len(value) - len(value.lstrip(_QUOTES))
    return Span(start, RANK, start + len(bare), at, "curl-login", bare)


def given(view: bytes, at: int, word: bytes, found: re.Match[str]) -> Span | None:
    """The password of `sshpass -p ...`, `mysql -p...`; behind another's `-p` one that stands apart and a machine made."""
    bare = found[1].strip(_QUOTES)
    if not said_password(bare):
        return None
    apart = word == b"<<<" or (found.start() < found.start(1) and machine_made(bare, _LOGIN))
    if not apart and words.PROGRAM().search(view, max(0, at - LOOK_BACK), at) is None:
        return None
    start = found.start(1) + len(found[1]) - len(found[1].lstrip(_QUOTES))
    return Span(start, RANK, start + len(bare), at, "login", bare)


def cookies_given(view: bytes, at: int, word: bytes, found: re.Match[str]) -> Span | None:
    """Those of `curl -b name=value`."""
    return cookies(view, at, word, found) if words.CURL().search(view, max(0, at - LOOK_BACK), at) else None


def cookies(_view: bytes, at: int, _word: bytes, found: re.Match[str]) -> Span | None:
    """Of `name=value; name=value` all from the first value that is as random as a session's to the last."""
    drawn_values = [pair.span(1) for pair in _PAIR().finditer(found[1]) if machine_made(pair[1], _SESSION)]
    if not drawn_values:
        return None
    first, last = drawn_values[0][0], drawn_values[-1][1]
    return Span(found.start(1) + first, RANK, found.start(1) + last, at, "cookie", found[1][first:last])


def paired(_view: bytes, at: int, _word: bytes, found: re.Match[str]) -> Span | None:
    """The password of a name and a password that a program logs in with."""
    value = found["quoted"]
    if value is None or not said_password(value):
        return None
    start = found.start("quoted")
    return Span(start, RANK, start + len(value), at, "generic", value)


def argument(_view: bytes, at: int, _word: bytes, found: re.Match[str]) -> Span | None:
    """The first of a call's arguments that is a secret."""
    for quoted in _ARGUMENT().finditer(found[1]):
        if said_password(quoted[1]):
            start = found.start(1) + quoted.start(1)
            return Span(start, RANK, start + len(quoted[1]), at, "generic", quoted[1])
    return None


def hooked(_view: bytes, at: int, _word: bytes, found: re.Match[str]) -> Span | None:
    """What of a hook's address nobody guesses, from the first part that a machine made on."""
    for part in _PARTS().finditer(found[1]):
        if not part[0].isdigit() and machine_made(part[0]):
            start, secret = found.start(1) + part.start(), found[1][part.start() :]
            return Span(start, RANK, found.end(), at, "webhook", secret)
    return None
