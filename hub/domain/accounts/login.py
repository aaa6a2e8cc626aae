"""Whether an agent is logged in, read from what it keeps itself.

Owns: where an agent keeps a login (`LoginStore`), and what the parsed file says (`login`).
Must not: keep, show or return a token: only that there is one, and until when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

_END_OF_TIME = 253_402_300_800.0
"""The year 10000: what no timestamp can show is no instant."""
ANY = "*"
"""In a path: every key of a table."""


@attrs.frozen
class LoginStore:
    """A JSON file in which an agent keeps a login."""

    home: str
    """The variable that moves the directory the file is in."""
    default: str
    """Where that directory is when the variable is not set."""
    path: str
    """The file, below it."""
    token: Sequence[str]
    """The keys that lead to the token; `ANY` stands for every key of a table."""
    method: str = "oauth"
    """What kind of login it is: `oauth`, or `stored_key` for a key that the agent keeps."""
    expires: Sequence[str] = ()
    """The keys that lead to the instant at which the token expires; () = the file does not tell."""
    unit: int = 1000
    """How many of the instant's units make a second."""
    renews: Sequence[str] = ()
    """The keys that lead to what the agent gets a new token with: while that is there, expiry does not matter."""
    keychain: bool = False
    """Whether the agent uses the system's keychain in place of the file where there is one (macOS)."""


@attrs.frozen
class FoundLogin:
    """A login that was found."""

    method: str
    expires_at: float | None = None
    """Epoch seconds; None where it does not expire, or the agent renews it by itself."""

    def good(self, now: float) -> bool:
        """Whether it can be used at that instant."""
        return self.expires_at is None or self.expires_at > now


def login(store: LoginStore, document: object) -> FoundLogin | None:
    """What the store's file says; None when it holds no login."""
    if not _words(document, store.token):
        return None
    if _words(document, store.renews):
        return FoundLogin(store.method)
    found = _at(document, store.expires) if store.expires else ()
    instants = [value for value in found if type(value) in (int, float)]
    ends = [value / store.unit for value in instants if 0 <= value / store.unit < _END_OF_TIME]
    return FoundLogin(store.method, max(ends, default=None))


def _words(document: object, path: Sequence[str]) -> bool:
    return bool(path) and any(isinstance(value, str) and value for value in _at(document, path))


def _at(document: object, path: Sequence[str]) -> Iterator[Any]:
    """Every value at the path."""
    if not path:
        yield document
        return
    if not isinstance(document, Mapping):
        return
    head, rest = path[0], path[1:]
    for key in document if head == ANY else [head]:
        if key in document:
            yield from _at(document[key], rest)
