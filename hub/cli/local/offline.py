"""The settings without a daemon: the same orders, carried out here while the project's lock is held.

Owns: what is asked of whom: of the daemon where one runs, else of the parts it is made of.
Must not: start a daemon: one that starts goes on with a session that was broken off.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
import click

from hub.actors.common.secrets import Secrets, secrets_of
from hub.actors.settings.accounts import Accounts
from hub.actors.settings.entries import Entries
from hub.actors.settings.keys import KeyFile
from hub.api.convert import structure, unstructure
from hub.api.detect import Detected
from hub.api.providers import AccountStatus, ProviderConfig, ProviderStatus
from hub.cli.context import client, hiding, note_left_out, project_dir
from hub.cli.versions import Versions
from hub.client.quick import unless_absent
from hub.domain.breaker import ready_at
from hub.domain.config.reader import Config
from hub.domain.missing import no_such
from hub.domain.routing import WORDS, Availability, Exclusion
from hub.domain.text.figures import HOUR
from hub.domain.text.plain import plain_value
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.config.accounts import read_added
from hub.io.config.file import settings
from hub.io.project.hub_dir import claim, insist_usable
from hub.io.project.lock import project_lock
from hub.io.project.places import Places, find_project, make_private_dir
from hub.io.project.trust import Gate
from hub.io.records.breakers import KeptBreakers, breaker_store
from hub.providers.provider import Provider
from hub.providers.registry import load_all

T = TypeVar("T")

_LIMIT = 1.4
"""Seconds for the versions of all: `hub providers` is there within two."""


@attrs.frozen
class OfflineProject:
    """A project whose settings are read from its files."""

    places: Places
    gate: Gate = attrs.field(
        default=attrs.Factory(lambda self: Gate.of(self.places.root, os.environ), takes_self=True)
    )

    def config(self) -> Config:
        """The configuration as a daemon would have it; no more of the project's own than its user agreed to."""
        added = read_added(self.places.accounts)
        return settings(self.places.config, environ=os.environ, added_accounts=added, gate=self.gate).config

    def provider(self, name: str) -> Provider:
        """The provider of this name.

        Raises:
            HubError: `not_found`.
        """
        known = load_all(self.config)
        if name not in known:
            raise no_such("provider", name, known)
        return known[name]

    @property
    def entries(self) -> Entries:
        """How providers are told."""
        return Entries(self.places.dotenv, Path.home(), load_all(self.config))

    @property
    def accounts(self) -> Accounts:
        """The accounts."""
        follow = self.gate.follow
        return Accounts(self.places, load_all(self.config), self.config, self.entries, time.time, follow)

    @property
    def keys(self) -> KeyFile:
        """The keys."""
        return KeyFile(self.places, load_all(self.config), self.gate.follow_keys)

    def described(self, *, versions: bool) -> list[ProviderConfig]:
        """What `GET /api/config/providers` would answer; without asking every program for its version, some seconds less."""
        config, providers = self.config(), load_all(self.config).values()
        note_left_out(self.gate)
        found = Versions.asked(config, providers if versions else (), _LIMIT)
        return [self.entries.entry(config, p, found.of(p.name), time.time()) for p in providers]

    def detected(self, hours: int) -> list[Detected]:
        """What `GET /api/detect` would answer: one scan of the machine; agents run outside of projects, too."""
        # The agents' stores, which no other command needs.
        from hub.actors.detector.scanner import Scanner

        config = self.config()
        scanner = Scanner(self.places.root, load_all(lambda: config), config)
        found = [unstructure(scanner.shown(one)) for one in scanner.scan(time.time() - hours * HOUR)]
        return structure(hiding().value(plain_value(found)), list[Detected])

    def secrets(self) -> Secrets:
        """Hides what looks like a secret, and every value that hub holds for this project."""
        config = self.config()
        return secrets_of(config, load_all(lambda: config), self.places.dotenv)


def project(ctx: click.Context) -> OfflineProject:
    """The project around the folder the user means.

    Raises:
        HubError: `not_a_repository`.
    """
    return OfflineProject(Places(find_project(project_dir(ctx))))


def described(ctx: click.Context, *, versions: bool = True) -> list[ProviderConfig]:
    """Every provider's configuration, from the daemon where one runs; it has the versions by heart.

    Outside of all projects by the user's own settings alone.
    """
    ask = partial(client(ctx).read, list[ProviderConfig], "/api/config/providers")
    return _or_here(ask, lambda: around(ctx).described(versions=versions))


def around(ctx: click.Context) -> OfflineProject:
    """The project, or the folder itself where it is in none: nothing is written there."""
    mine = unless_absent(partial(project, ctx), {Code.NOT_A_REPOSITORY})
    return mine or OfflineProject(Places(project_dir(ctx)))


def standings(ctx: click.Context) -> dict[str, ProviderStatus]:
    """How each provider stands now, by name: from the daemon where one runs, else by the breakers that the last one kept.

    Without a daemon only those that must not be chosen are told of.
    """
    ask = partial(client(ctx).read, list[ProviderStatus], "/api/providers")
    return {row.name: row for row in _or_here(ask, lambda: _kept(around(ctx).places))}


def _kept(places: Places) -> list[ProviderStatus]:
    """The open breakers of active accounts, as `GET /api/providers` would show them."""
    mine, now, rows = OfflineProject(places), time.time(), []
    config = mine.config()
    kept = KeptBreakers()
    with contextlib.suppress(HubError):  # whoever may not be chosen, the next daemon finds out
        kept = breaker_store(places).look() or kept
    for found in kept.breakers:
        ready = ready_at(found, now)
        if ready > now and config.accounts(found.provider)[0].label == found.account:
            status = Availability.EXHAUSTED if found.limited else Availability.ERROR
            bar = (Exclusion.CAP if found.cap else Exclusion.LIMIT) if found.limited else Exclusion.BREAKER
            account = AccountStatus(
                label=found.account, status=status, reason=WORDS[bar], resets_at=iso(ready)
            )
            rows.append(
                ProviderStatus(
                    name=found.provider,
                    display_name=mine.provider(found.provider).display_name,
                    status=status,
                    account=found.account,
                    model=config.provider(found.provider).model,
                    reason=account.reason,
                    resets_at=account.resets_at,
                    accounts=[account],
                )
            )
    return rows


def ordered(
    ctx: click.Context, kind: type[T], path: str, body: object, here: Callable[[OfflineProject], T]
) -> T:
    """What came of an order: to the daemon where one runs, else carried out here."""

    def alone() -> T:
        mine = project(ctx)
        insist_usable(mine.places.root)
        make_private_dir(mine.places.hub_dir)
        with held(mine.places):
            mine.places.ensure()
            return here(mine)

    return _or_here(partial(client(ctx).order, kind, path, body), alone)


@contextlib.contextmanager
def held(places: Places) -> Iterator[None]:
    """The project's lock, for what a command changes where no daemon runs; what is not hub's own is said."""
    with project_lock(places.lock):
        for foreign in claim(places):
            click.echo(f"hub: {foreign.detail}\n     {foreign.hint}", err=True)
        yield


def _or_here(ask: Callable[[], T], here: Callable[[], T]) -> T:
    found = unless_absent(ask)
    return here() if found is None else found
