"""The settings without a daemon: the same orders, carried out here while the project's lock is held.

Owns: what is asked of whom: of the daemon where one runs, else of the parts it is made of.
Must not: start a daemon: one that starts goes on with a session that was broken off.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
import trio

from hub.actors.session.held import redactor_of
from hub.actors.settings.accounts import Accounts
from hub.actors.settings.entries import Entries
from hub.actors.settings.keys import KeyFile
from hub.actors.settings.probes import Probes, Question
from hub.cli.context import client, project_dir
from hub.domain.account import Account
from hub.domain.config.reader import Config
from hub.errors import Code, HubError
from hub.io.accounts import read_book
from hub.io.config_file import load
from hub.io.hub_dir import claim, insist_usable
from hub.io.lock import project_lock
from hub.io.places import Places, find_project, make_private_dir
from hub.providers.base import Provider
from hub.providers.registry import load_all

if TYPE_CHECKING:
    from hub.domain.redaction.redactor import Redactor

_PATIENCE = 20.0


@attrs.frozen
class Project:
    """A project whose settings are read from its files."""

    places: Places

    def config(self) -> Config:
        """The configuration as a daemon would have it."""
        return load(self.places.config, environ=os.environ, book=read_book(self.places.accounts))

    def provider(self, name: str) -> Provider:
        """The provider of this name.

        Raises:
            HubError: `not_found`.
        """
        known = load_all(self.config)
        if name not in known:
            raise HubError(
                Code.NOT_FOUND, f"There is no provider {name!r}.", hint=f"Known: {', '.join(known)}."
            )
        return known[name]

    @property
    def entries(self) -> Entries:
        """How providers are told."""
        return Entries(self.places.dotenv, Path.home())

    @property
    def accounts(self) -> Accounts:
        """The accounts."""
        return Accounts(self.places, load_all(self.config), self.config, self.entries, time.time)

    @property
    def keys(self) -> KeyFile:
        """The keys."""
        return KeyFile(self.places, load_all(self.config))

    def described(self, *, versions: bool) -> list[dict[str, Any]]:
        """What `GET /api/config/providers` would answer; without asking every program for its version, some seconds less."""
        config, providers = self.config(), load_all(self.config)
        questions = {
            name: Question(config.provider(name).program or provider.program, provider.version_args)
            for name, provider in providers.items()
        }
        found = trio.run(_asked, questions) if versions else {}
        return [self.entries.entry(config, p, found.get(p.name), time.time()) for p in providers.values()]

    def redactor(self) -> Redactor:
        """Hides what looks like a secret, and every value that hub holds for this project."""
        config = self.config()
        return redactor_of(config, load_all(lambda: config), self.places.dotenv)

    def account(self, provider: Provider, label: str) -> Account:
        """The account of that label; the active one for ""."""
        return self.accounts.find(provider, label)


async def _asked(questions: dict[str, Question]) -> Any:
    async with trio.open_nursery() as nursery:
        found = await Probes(time.time).answers(nursery, questions, _PATIENCE)
        nursery.cancel_scope.cancel(reason="the patience is over")
    return found


def project(ctx: click.Context) -> Project:
    """The project around the folder the user means.

    Raises:
        HubError: `not_a_repository`.
    """
    return Project(Places(find_project(project_dir(ctx))))


def described(ctx: click.Context, *, versions: bool = True) -> list[dict[str, Any]]:
    """Every provider's configuration, from the daemon where one runs; it has the versions by heart."""
    found: list[dict[str, Any]] = _or_here(
        partial(client(ctx).get, "/api/config/providers"), lambda: project(ctx).described(versions=versions)
    )
    return found


def ordered(
    ctx: click.Context, path: str, body: dict[str, Any], here: Callable[[Project], dict[str, Any]]
) -> dict[str, Any]:
    """What came of an order: to the daemon where one runs, else carried out here."""

    def alone() -> dict[str, Any]:
        mine = project(ctx)
        insist_usable(mine.places.root)
        make_private_dir(mine.places.hub_dir)
        with project_lock(mine.places.lock):
            for foreign in claim(mine.places):
                click.echo(f"hub: {foreign.detail}\n     {foreign.hint}", err=True)
            mine.places.ensure()
            return {"ok": True, **here(mine)}

    answer: dict[str, Any] = _or_here(partial(client(ctx).post, path, body), alone)
    return answer


def _or_here(ask: Callable[[], Any], here: Callable[[], Any]) -> Any:
    try:
        return ask()
    except HubError as error:
        if error.code is not Code.DAEMON_NOT_RUNNING:
            raise
    return here()
