"""The polls: what the agents' own files and their makers' servers tell of a quota.

Owns: when who is asked, and how long one is left alone after a failure.
Must not: keep a login, hold the ledger, or ask a server for an account whose user did not allow it.

A store is looked at by the stamps of its newest files, and read only where one has grown. A server is asked every
five minutes, ever more seldom while nothing changes, and after a failure not before its time; one that refuses a
login is left alone until the login is another one.

Tests: tests/hub/actors/quota/test_poller.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import trio

from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.quota.window import QuotaReading, Source
from hub.errors import HubError
from hub.io.files.atomic import read_bounded
from hub.io.files.tails import SeenFile, last_lines, newest
from hub.io.http.request import Answer, FetchError, fetch
from hub.providers import jsonline
from hub.providers.quota import QuotaClient, QuotaRequest, Share

LOOK = 60.0
"""Seconds between two looks."""
_PAST = 6 * 3600.0
"""Files older than this many seconds tell of windows that are over, or were read before."""
_FILES = 4
_USUAL, _SELDOM, _NEVER = 300.0, 1800.0, 3600.0
_LOGIN_LIMIT = 1024 * 1024
_OK = 200
_REFUSED = frozenset({401, 403})


@attrs.define
class _Server:
    """How one account's server is got on with."""

    asked: float = 0.0
    due: float = 0.0
    wait: float = _USUAL
    refused: bytes = b""
    """Digest of the login that was refused."""
    shares: tuple[Share, ...] = ()


@attrs.define
class Poller:
    """What was found before; nothing that a restart would miss."""

    clients: Callable[[str], QuotaClient | None]
    clock: Callable[[], float]
    home: Path = attrs.field(factory=Path.home)
    _stores: dict[tuple[str, str], tuple[SeenFile, ...]] = attrs.field(factory=dict)
    _servers: dict[tuple[str, str], _Server] = attrs.field(factory=dict)

    async def look(self, config: Config, names: tuple[str, ...]) -> list[QuotaReading]:
        """Everything that is new since the last look, of every account of the enabled providers."""
        found: list[QuotaReading] = []
        for name in config.enabled_providers(names):
            try:
                client = await trio.to_thread.run_sync(self.clients, name)  # it may be the first to need it
            except OSError:  # it is imported, and there may be no file left: at the next look
                continue
            if client is None:
                continue
            for account in config.accounts(name):
                place = self._place(client, account)
                kept = await trio.to_thread.run_sync(self._store, client, (name, account.label), place)
                found += [self._reading(name, account, share, "store") for share in kept]
                settings = config.provider(name)
                if settings.quota_endpoint:
                    url = settings.quota_url.rstrip("/") or client.url
                    shares = await self._endpoint(client, (name, account.label), place, url)
                    found += [self._reading(name, account, share, "endpoint") for share in shares]
        return found

    def _place(self, client: QuotaClient, account: Account) -> Path:
        if account.config_dir:
            return Path(account.config_dir).expanduser() / client.account
        return self.home / client.home

    def _reading(self, name: str, account: Account, share: Share, source: Source) -> QuotaReading:
        at = self.clock() if share.at is None else min(share.at, self.clock())
        return QuotaReading(name, account.label, share.window, share.used, share.resets_at, source, at)

    # --- stores ---------------------------------------------------------------------------------------

    def _store(self, client: QuotaClient, owner: tuple[str, str], place: Path) -> list[Share]:
        if not client.store:
            return []
        seen = newest(place / client.store, ".jsonl", self.clock() - _PAST, _FILES)
        before = self._stores.get(owner, ())
        self._stores[owner] = seen
        latest: dict[str, Share] = {}
        for file in seen:
            if file not in before:
                for share in _shares(client, file.path):
                    known = latest.get(share.window)
                    if known is None or (share.at or 0) > (known.at or 0):
                        latest[share.window] = share
        return list(latest.values())

    # --- servers --------------------------------------------------------------------------------------

    async def _endpoint(
        self, client: QuotaClient, owner: tuple[str, str], place: Path, url: str
    ) -> tuple[Share, ...]:
        server, now = self._servers.setdefault(owner, _Server()), self.clock()
        if server.asked <= now < server.due:  # not where the clock was set back since
            return ()
        try:
            login = read_bounded(place / client.credentials, _LOGIN_LIMIT)
        except (OSError, HubError):
            return ()
        # Only its digest is kept: enough to see that it is another one.
        digest = hashlib.sha256(login).digest()
        request = client.request(login, url, now)
        if request is None or digest == server.refused:
            return ()
        server.asked, answer = now, await _asked(request)
        if answer is None or answer.status != _OK:
            server.refused = digest if answer is not None and answer.status in _REFUSED else b""
            asked = answer.retry_after if answer is not None else None
            server.wait = min(server.wait * 2, _NEVER)
            server.due = now + max(server.wait, min(asked or 0.0, 24 * _NEVER))
            return ()
        shares = tuple(client.answer(jsonline.read(answer.body) or {}))
        server.wait = min(server.wait * 2, _SELDOM) if shares == server.shares else _USUAL
        server.due, server.refused, server.shares = now + server.wait, b"", shares
        return shares


async def _asked(request: QuotaRequest) -> Answer | None:
    try:
        return await fetch(request.method, request.url, request.headers, request.body)
    except FetchError:
        return None


def _shares(client: QuotaClient, path: str) -> list[Share]:
    """What a file's end tells, oldest first; of a record that tells no time nobody knows what it is worth."""
    found: list[Share] = []
    for line in last_lines(path):
        if client.mark in line:
            record: Mapping[str, object] = jsonline.read(line) or {}
            found += [share for share in client.record(record) if share.at is not None]
    return found
