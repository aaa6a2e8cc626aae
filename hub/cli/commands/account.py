"""`hub account`: the logins of the agents.

Owns: the words for these, and how accounts are shown.
Must not: read a login, or delete a directory.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection

import attrs
import click

from hub.api.accounts import AccountGone, AccountNow, NewAccount, WhichAccount
from hub.api.providers import ProviderAccount
from hub.cli import completing
from hub.cli.base import Group
from hub.cli.context import show, with_json
from hub.cli.foreground import run_here
from hub.cli.terminal.table import table
from hub.errors import Code, HubError


@click.group(cls=Group)
def account() -> None:
    """Manage the agents' logins: an agent may have several, each in its own directory.

    Example: hub account list
    """


@account.command(name="list")
@with_json
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List every account of every enabled agent; the active one is used next. Needs no daemon.

    Example: hub account list
    """
    from hub.cli.local.offline import described

    entries = [entry for entry in described(ctx, versions=False) if entry.enabled]
    rows = [
        AccountRow(provider=entry.name, **attrs.asdict(account))
        for entry in entries
        for account in entry.accounts
    ]
    open_to_all = {entry.name for entry in entries if not entry.auth.login_command}
    show(rows, as_json=as_json, text=lambda found: _table(found, open_to_all))


@attrs.frozen(kw_only=True)
class AccountRow(ProviderAccount):
    """An account, and whose it is."""

    provider: str


def _table(rows: list[AccountRow], open_to_all: Collection[str]) -> str:
    """One row an account; the active one of each agent is marked. Nothing is known of a login nobody has looked for."""
    if not rows:
        return "no agent is enabled - see: hub providers"
    cells = [
        (
            row.provider,
            row.label,
            "yes" if row.active else "",
            "logged in" if row.logged_in else "not needed" if row.provider in open_to_all else "not seen",
            row.config_dir or "the agent's own",
        )
        for row in rows
    ]
    return table(("AGENT", "ACCOUNT", "ACTIVE", "LOGIN", "DIRECTORY"), cells)


@account.command()
@click.argument("provider", shell_complete=completing.providers)
@click.argument("label")
@click.option(
    "--config-dir",
    default="",
    metavar="DIR",
    shell_complete=completing.folders,
    help="Where the login lives; default: a new directory.",
)
@with_json
def add(ctx: click.Context, *, provider: str, label: str, config_dir: str, as_json: bool) -> None:
    """Register another login of an agent. Needs no daemon.

    Example: hub account add claude work
    """
    from hub.cli.local.offline import ordered
    from hub.messages.settings import AddAccount

    body = NewAccount(provider=provider, label=label, config_dir=config_dir)
    made = ordered(
        ctx,
        AccountNow,
        "/api/providers/account/add",
        body,
        lambda here: here.accounts.add(AddAccount(provider, label, config_dir), here.provider(provider)),
    )
    text = f"{provider} has the account {label} in {made.config_dir}"
    login = f"hub account login {provider} {shlex.quote(label)}"
    show(made, as_json=as_json, text=lambda _: f"{text}\nnext: {login}")


@account.command()
@click.argument("provider", shell_complete=completing.providers)
@click.argument("label", shell_complete=completing.labels)
@with_json
def switch(ctx: click.Context, *, provider: str, label: str, as_json: bool) -> None:
    """Make an account the active one: the next session or handoff uses it. Needs no daemon.

    Example: hub account switch claude work
    """
    from hub.cli.local.offline import ordered
    from hub.messages.settings import SwitchAccount

    made = ordered(
        ctx,
        AccountNow,
        "/api/providers/account",
        WhichAccount(provider=provider, label=label),
        lambda here: here.accounts.switch(SwitchAccount(provider, label), here.provider(provider)),
    )
    show(made, as_json=as_json, text=lambda _: f"the next session or handoff of {provider} uses {label}")


@account.command()
@click.argument("provider", shell_complete=completing.providers)
@click.argument("label", shell_complete=completing.labels)
@with_json
def remove(ctx: click.Context, *, provider: str, label: str, as_json: bool) -> None:
    """Forget a login; its directory stays. Needs no daemon.

    Example: hub account remove claude work
    """
    from hub.cli.local.offline import ordered
    from hub.messages.settings import RemoveAccount

    gone = ordered(
        ctx,
        AccountGone,
        "/api/providers/account/remove",
        WhichAccount(provider=provider, label=label),
        lambda here: here.accounts.remove(RemoveAccount(provider, label), here.provider(provider)),
    )
    kept = f"; its directory stays: {gone.config_dir}" if gone.config_dir else ""
    show(gone, as_json=as_json, text=lambda _: f"{provider} no longer has {label}{kept}")


@account.command()
@click.argument("provider", shell_complete=completing.providers)
@click.argument("label", default="", shell_complete=completing.labels)
@with_json
def login(ctx: click.Context, *, provider: str, label: str, as_json: bool) -> None:
    """Run the agent's own login for an account; without a LABEL, the active one. Needs no daemon.

    Example: hub account login claude work
    """
    from hub.actors.settings.program_jobs import login_command
    from hub.cli.local.offline import project
    from hub.io.config.accounts import make_home

    mine = project(ctx)
    agent = mine.provider(provider)
    chosen = mine.accounts.find(agent, label)
    command = login_command(mine.config(), agent, chosen)
    make_home(chosen)
    code = run_here(command, as_json=as_json)
    found = mine.entries.kept_login(mine.config(), agent, chosen)
    known = bool(agent.login_stores)
    if code or (known and found is None):
        detail = f"{provider} is not logged in as {chosen.label}: its login ended with status {code}."
        raise HubError(
            Code.AUTH_NEEDED,
            detail,
            hint=f"Try again: hub account login {provider} {shlex.quote(chosen.label)}",
        )
    told = {"ok": True, "provider": provider, "label": chosen.label, "loggedIn": found is not None}
    words = "is logged in as" if known else "has ended its login as"
    show(told, as_json=as_json, text=lambda _: f"{provider} {words} {chosen.label}")
