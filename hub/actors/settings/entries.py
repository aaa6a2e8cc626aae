"""A provider's configuration as the API tells it.

Owns: the shape of an entry of `GET /api/config/providers`, and what counts as logged in.
Must not: run a program, change anything, or let the value of a key out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from hub.api import providers as api
from hub.api.providers import Chosen, ProviderAccount, ProviderConfig
from hub.domain.accounts.account import Account
from hub.domain.accounts.login import FoundLogin
from hub.domain.config.reader import Config
from hub.domain.wallclock import iso
from hub.io.processes.probe import ProgramProbe, which
from hub.io.secrets.agent_keys import find_login, keys_of
from hub.providers.provider import Provider

KEY = FoundLogin("key")
"""A key that hub hands to the agent itself."""


@attrs.frozen
class Entries:
    """Reads files; to be called in a thread."""

    dotenv: Path
    home: Path
    providers: Mapping[str, Provider]
    """All there are: a key is one agent's among them."""

    def entry(
        self, config: Config, provider: Provider, found: ProgramProbe | None, now: float
    ) -> ProviderConfig:
        """One provider. `found` is None while its program has not answered."""
        settings = chosen(config, provider.name)
        path = which(config.provider(provider.name).program or provider.program)
        accounts = config.accounts(provider.name)
        logins = [self.login(config, provider, account, now) for account in accounts]
        return ProviderConfig(
            name=provider.name,
            display_name=provider.display_name,
            enabled=settings.enabled,
            declared_cap=settings.declared_cap,
            model=settings.model,
            base_url=settings.base_url,
            install=api.Install(
                installed=bool(path),
                version=found.version if found is not None else "",
                path=path,
                command=" ".join(provider.install_command),
            ),
            auth=api.Login(
                logged_in=logins[0] is not None and logins[0].good(now),
                method=logins[0].method if logins[0] is not None else "",
                login_command=" ".join(provider.login_command),
                expires_at=_instant(logins[0]),
                key_names=list(provider.key_names),
                keys=sorted(self.keys(provider)),
            ),
            capabilities=attrs.asdict(provider.capabilities),
            probe=_shown(found) if found is not None else None,
            accounts=[
                account_row(account, login, now) for account, login in zip(accounts, logins, strict=True)
            ],
            active_account=accounts[0].label,
        )

    def login(self, config: Config, provider: Provider, account: Account, now: float) -> FoundLogin | None:
        """The login an agent of this account would use; one that has expired only where there is no better."""
        env = self._env(config, provider, account)
        if any(env.get(name) for name in provider.key_names):
            return KEY
        found = self._kept(provider, env)
        return max(found, key=lambda login: login.good(now), default=None)

    def logged_in(self, config: Config, provider: Provider, account: Account, now: float) -> bool | None:
        """Whether an agent of this account has a login; None where hub cannot know.

        It cannot where the agent keeps its login out of sight, or where the user gave it a server or variables of its
        own: those may make a login needless.
        """
        found = self.login(config, provider, account, now)
        if found is not None:
            return found.good(now)
        settings = config.provider(provider.name)
        stores = provider.login_stores
        hidden = not stores or (sys.platform == "darwin" and any(store.keychain for store in stores))
        return None if hidden or settings.base_url or settings.env or account.env else False

    def logins(
        self, config: Config, providers: Iterable[Provider], now: float
    ) -> dict[tuple[str, str], bool | None]:
        """Whether each account, as (provider, label), has a login; None where hub cannot know."""
        return {
            (provider.name, account.label): self.logged_in(config, provider, account, now)
            for provider in providers
            for account in config.accounts(provider.name)
        }

    def kept_login(self, config: Config, provider: Provider, account: Account) -> FoundLogin | None:
        """The login the agent keeps itself; None where it has none that can be seen."""
        return next(iter(self._kept(provider, self._env(config, provider, account))), None)

    def _kept(self, provider: Provider, env: Mapping[str, str]) -> list[FoundLogin]:
        return [
            login
            for store in provider.login_stores
            if (login := find_login(store, self.folder(store.home, store.default, env))) is not None
        ]

    def folders(self, config: Config, provider: Provider, account: Account) -> list[Path]:
        """Where the logins of an account are kept."""
        env = self._env(config, provider, account)
        places = [self.folder(store.home, store.default, env) for store in provider.login_stores]
        return [*places, Path(account.config_dir)] if account.config_dir else places

    def folder(self, home: str, default: str, env: Mapping[str, str]) -> Path:
        """Where an agent's directory is: what its variable says, else its usual place."""
        place = env.get(home) or default
        return self.home / place.removeprefix("~").lstrip("/") if place.startswith("~") else Path(place)

    def keys(self, provider: Provider) -> dict[str, str]:
        """The keys of `.hub/.env` that are this agent's."""
        return keys_of(self.dotenv, provider.name, self.providers)

    def _env(self, config: Config, provider: Provider, account: Account) -> dict[str, str]:
        keys = self.keys(provider)
        mine = config.provider(provider.name).env
        return {**keys, **mine, **provider.account_env(account)}


def chosen(config: Config, name: str) -> Chosen:
    """What the user has chosen for a provider, with what holds where nothing was chosen."""
    settings = config.provider(name)
    return Chosen(
        name=name,
        enabled=name in config.enabled_providers([name]),
        declared_cap=settings.declared_cap or 0,
        model=settings.model,
        base_url=settings.base_url,
    )


def account_row(account: Account, login: FoundLogin | None, now: float) -> ProviderAccount:
    """An account as the API tells it."""
    return ProviderAccount(
        label=account.label,
        active=account.active,
        config_dir=account.config_dir,
        logged_in=login is not None and login.good(now),
    )


def _instant(login: FoundLogin | None) -> str | None:
    return iso(login.expires_at) if login is not None and login.expires_at is not None else None


def _shown(found: ProgramProbe) -> api.Probe:
    return api.Probe(
        ok=found.ok, detail=found.detail, latency_ms=found.latency_ms, checked_at=iso(found.checked_at)
    )
