"""Accounts are added, chosen and forgotten.

Owns: the order of each: what is checked, what is written, what the answer says.
Must not: hold a rule of the added accounts (`hub.domain.accounts.added` does), or delete a directory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from hub.actors.settings.entries import Entries, account_row
from hub.api.accounts import AccountGone, AccountNow
from hub.api.tables import parse_config
from hub.domain.accounts.account import Account
from hub.domain.accounts.added import added, find, removed, switched
from hub.domain.config.reader import Config
from hub.domain.missing import invalid_field
from hub.domain.text.safe import is_label
from hub.errors import HubError
from hub.io.config.accounts import make_account_dir, own_dir, read_added, write_added
from hub.io.config.file import text_of
from hub.io.config.patch import Watch, edit, unwatched
from hub.io.project.places import Places
from hub.messages.settings import AddAccount, RemoveAccount, SwitchAccount
from hub.providers.provider import Provider


@attrs.frozen
class Accounts:
    """Every method reads and writes files: to be called in a thread."""

    places: Places
    providers: Mapping[str, Provider]
    current: Callable[[], Config]
    entries: Entries
    clock: Callable[[], float]
    follow: Watch = unwatched

    def add(self, order: AddAccount, provider: Provider) -> AccountNow:
        """Register a login, in a directory of its own.

        Raises:
            HubError: `invalid`; label or directory do not fit, or the agent cannot keep logins apart.
        """
        if not is_label(order.label):
            raise invalid_field("label", "label must be 1 to 64 printable characters.")
        if not provider.capabilities.accounts:
            detail = f"{provider.name} keeps only one login: it has no directory that could be moved."
            raise invalid_field("provider", detail, "For an agent of your own, set homeEnv in hub.toml.")
        known = self.current().accounts(provider.name)
        added_accounts = read_added(self.places.accounts)
        # Checked with a directory that is not there yet: what is refused leaves none behind.
        added(added_accounts, provider.name, known, Account(order.label, "/"))
        place = order.config_dir or str(own_dir(self.places, provider.name, order.label))
        folder = make_account_dir(place, self.entries.home, self.places.root, self._taken())
        write_added(
            self.places.accounts,
            added(added_accounts, provider.name, known, Account(order.label, str(folder))),
        )
        return self._row(provider, order.label)

    def switch(self, order: SwitchAccount, provider: Provider) -> AccountNow:
        """Make an account the active one.

        Raises:
            HubError: `not_found`.
        """
        known = self.current().accounts(provider.name)
        added_accounts = read_added(self.places.accounts)
        write_added(self.places.accounts, switched(added_accounts, provider.name, known, order.label))
        return self._row(provider, order.label)

    def remove(self, order: RemoveAccount, provider: Provider) -> AccountGone:
        """Forget an account, whether hub wrote it down or the user did. Its directory stays where it is.

        Raises:
            HubError: `not_found`; or `invalid` for a login that stands nowhere in the project.
        """
        name, label = provider.name, order.label
        gone = find(name, self.current().accounts(name), label)
        left = removed(read_added(self.places.accounts), name, label)
        if left is not None:
            write_added(self.places.accounts, left)
        if label in self._written(name):
            by_hand = f"Take the account {label!r} out of providers.{name} by hand."
            edit(self.places.config, lambda tables: _drop(tables, name, label), by_hand, self.follow)
        elif left is None:
            raise self._not_ours(name, gone)
        active = self.current().accounts(name)[0].label
        return AccountGone(provider=name, label=label, config_dir=gone.config_dir, active_account=active)

    def find(self, provider: Provider, label: str) -> Account:
        """The account of that label, or the active one for "".

        Raises:
            HubError: `not_found`.
        """
        known = self.current().accounts(provider.name)
        return find(provider.name, known, label) if label else known[0]

    def _written(self, name: str) -> set[str]:
        """The labels in the project's `hub.toml`."""
        config = parse_config(text_of(self.places.config), str(self.places.config))
        return {account.label for account in config.provider(name).accounts}

    def _not_ours(self, name: str, account: Account) -> HubError:
        if account.config_dir:
            hint = "Take it out of the user's config.toml by hand."
            return invalid_field("label", f"{account.label!r} does not stand in this project.", hint)
        return invalid_field(
            "label",
            f"{account.label!r} is {name}'s own login, which hub does not keep.",
            f"Turn the provider off instead: enabled = false, or log out with {name} itself.",
        )

    def _taken(self) -> list[Path]:
        """Where all other logins live, the agents' own included."""
        config = self.current()
        return [
            folder
            for provider in self.providers.values()
            for account in config.accounts(provider.name)
            for folder in self.entries.folders(config, provider, account)
        ]

    def _row(self, provider: Provider, label: str) -> AccountNow:
        config, now = self.current(), self.clock()
        account = find(provider.name, config.accounts(provider.name), label)
        row = account_row(account, self.entries.login(config, provider, account, now), now)
        active = config.accounts(provider.name)[0].label
        return AccountNow(provider=provider.name, active_account=active, **attrs.asdict(row))


def _drop(tables: Any, name: str, label: str) -> None:
    provider = tables["providers"][name]
    rows = provider["accounts"]
    del rows[next(index for index, row in enumerate(rows) if row["label"] == label)]
    if not len(rows):
        del provider["accounts"]
