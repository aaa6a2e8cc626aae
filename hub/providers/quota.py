"""The shape of a provider's quota client: where its quota can be read besides its stream.

Owns: `QuotaClient`, `Share` and `QuotaRequest`; `SpentStore`, what an agent's own sessions tell of its spending; and the
reading of what all of them meet.
Must not: open a file or a socket, or keep a login: a token is read at the moment of the call, and only the request
that is sent holds it.
Tests: tests/hub/providers/test_quota_clients.py, tests/hub/actors/detector/test_meter.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from hub.domain.quota.elsewhere import Used
from hub.domain.quota.window import FULL
from hub.providers.store import Database


@attrs.frozen
class Share:
    """How much of a window is used, as a client reads it.

    Attributes:
        window: Its name, the same as in the stream.
        used: Per mille.
        resets_at: Epoch seconds; None where it is not told.
        at: When the record was written, epoch seconds; None = it is an answer of this moment.
    """

    window: str
    used: int
    resets_at: float | None = None
    at: float | None = None


@attrs.frozen
class QuotaRequest:
    """One request to the agent's maker; its headers hold the user's login."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    body: bytes = b""


@attrs.frozen(kw_only=True)
class QuotaClient:
    """Where one agent's quota can be read.

    Attributes:
        home: The agent's own directory below the user's, where an account has none of its own.
        store: The folder in it in which its sessions are; "" where they tell nothing of a quota.
        mark: Bytes that every record with a quota in it has: all others are not even decoded.
        record: The shares that one record of the store tells.
        credentials: The file in `home` that holds its login.
        url: The maker's server.
        request: The request for a login (the file's bytes), a server and a moment; None where the login will not do.
        answer: The shares in what the server answered.
        account: What an account's own directory has below it in place of `home`.
    """

    home: str
    credentials: str
    url: str
    request: Callable[[bytes, str, float], QuotaRequest | None]
    answer: Callable[[Mapping[str, object]], Sequence[Share]]
    store: str = ""
    mark: bytes = b""
    record: Callable[[Mapping[str, object]], Sequence[Share]] = lambda _: ()
    account: str = ""


@attrs.frozen
class SpentStep:
    """An answer that a database tells of.

    Attributes:
        at_ms: When its row was made.
        folder: Where the agent works.
        used: The answer.
    """

    at_ms: int
    folder: str
    used: Used


@attrs.frozen(kw_only=True)
class SpentStore:
    """Where the answers of an agent's sessions stand, with what each used.

    Attributes:
        suffix: Of the sessions' files; those in another format tell nothing.
        mark: Bytes that every record with an answer's usage in it has: all others are not even decoded.
        answer: The answer that one record of a session's file tells, or tells of once more; the second argument names
            the session.
        beside: The folder, next to a session's file and named after it, that has its subagents' files; "" for none.
        rows: Where the sessions are in a database: the steps made since a moment (epoch milliseconds), of all sessions.
    """

    suffix: str = ".jsonl"
    mark: bytes = b""
    answer: Callable[[Mapping[str, object], str], Used | None] = lambda *_: None
    beside: str = ""
    rows: Callable[[Database, int], Sequence[SpentStep]] | None = None


def permille(percent: object) -> int | None:
    """Per mille of a percentage; None for what is no number, or no share."""
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not 0 <= percent <= FULL:
        return None
    return round(percent * 10)
