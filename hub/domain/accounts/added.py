"""The accounts that were added over the API, and which one of each provider was chosen.

Owns: the added accounts (`.hub/accounts.toml`), what may be written into it, and how it is laid over the configuration.
Must not: read or write the file, make a directory, or hold a key.

Accounts are personal, and `hub.toml` is often shared: so what hub writes itself stands in a file of its own. An
account of `hub.toml` is the user's; these add others and say which is active.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import attrs

from hub.domain.accounts.account import DEFAULT_ACCOUNT, Account
from hub.domain.config.values import TABLE, TABLES, Provider, Text
from hub.domain.missing import invalid_field
from hub.errors import Code, HubError

Raw = dict[str, Any]


@attrs.frozen
class AddedToProvider:
    """What was added and chosen of one provider."""

    accounts: Annotated[tuple[Annotated[Account, TABLE], ...], TABLES] = ()
    active: Text = ""
    """The label that was chosen; "" = none was."""


AddedAccounts = Mapping[Provider, Annotated[AddedToProvider, TABLE]]


def plain(added_accounts: AddedAccounts) -> Raw:
    """The raw tables of the added accounts; `hub.api.tables.read_added` makes the same of them."""
    return {name: _page(page) for name, page in added_accounts.items()}


def _page(page: AddedToProvider) -> Raw:
    rows = [
        {"label": a.label, **({"configDir": a.config_dir} if a.config_dir else {})} for a in page.accounts
    ]
    return {**({"active": page.active} if page.active else {}), **({"accounts": rows} if rows else {})}


def laid_over(providers: Raw, added_accounts: AddedAccounts) -> None:
    """Add the added accounts to the raw `providers` of a configuration, and mark the chosen ones active.

    Where both have a label or a directory, the configuration's is meant.
    """
    folders = {a.get("configDir", "") for p in providers.values() for a in p.get("accounts", ())} - {""}
    for name, page in added_accounts.items():
        written = providers.get(name, {}).get("accounts", [])
        labels = {a["label"] for a in written}
        more = [a for a in page.accounts if a.label not in labels and a.config_dir not in folders]
        rows = [*map(dict, written), *({"label": a.label, "configDir": a.config_dir} for a in more)]
        if page.active in {row["label"] for row in rows}:
            for row in rows:
                row["active"] = row["label"] == page.active
        if rows:
            providers.setdefault(name, {})["accounts"] = rows


def added(
    added_accounts: AddedAccounts, provider: str, known: Sequence[Account], new: Account
) -> AddedAccounts:
    """The added accounts with one more account. The agent's own login stays one, also when it was the only one.

    Args:
        added_accounts: As it is.
        provider: Whose account.
        known: All accounts of the provider, as configured.
        new: Label and directory.

    Raises:
        HubError: `invalid`; the label is used already.
    """
    if new.label in {a.label for a in known}:
        raise invalid_field("label", f"{provider} has an account {new.label!r} already.")
    page = added_accounts.get(provider, AddedToProvider())
    own = () if page.accounts or not _only_own(known) else (Account(DEFAULT_ACCOUNT),)
    return {**added_accounts, provider: attrs.evolve(page, accounts=(*page.accounts, *own, new))}


def switched(
    added_accounts: AddedAccounts, provider: str, known: Iterable[Account], label: str
) -> AddedAccounts:
    """The added accounts with another active account.

    Raises:
        HubError: `not_found`; the provider has no such account.
    """
    find(provider, known, label)
    return {
        **added_accounts,
        provider: attrs.evolve(added_accounts.get(provider, AddedToProvider()), active=label),
    }


def removed(added_accounts: AddedAccounts, provider: str, label: str) -> AddedAccounts | None:
    """The added accounts without one; None when it is not among them."""
    page = added_accounts.get(provider, AddedToProvider())
    left = tuple(a for a in page.accounts if a.label != label)
    if left == page.accounts:
        return None
    return {**added_accounts, provider: AddedToProvider(left, "" if page.active == label else page.active)}


def find(provider: str, known: Iterable[Account], label: str) -> Account:
    """The account of that label.

    Raises:
        HubError: `not_found`.
    """
    accounts = tuple(known)
    found = next((a for a in accounts if a.label == label), None)
    if found is None:
        labels = ", ".join(a.label for a in accounts)
        raise HubError(Code.NOT_FOUND, f"{provider} has no account {label!r}.", hint=f"It has: {labels}.")
    return found


def _only_own(known: Sequence[Account]) -> bool:
    return len(known) == 1 and known[0].label == DEFAULT_ACCOUNT and not known[0].config_dir
