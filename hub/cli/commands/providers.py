"""`hub providers` and `hub install`: which agents there are, and how one gets here.

Owns: how providers are shown, and the install in the user's own terminal.
Must not: install by any command but the maker's, as the adapter has it.
"""

from __future__ import annotations

import attrs
import click

from hub.api.providers import ProviderConfig, ProviderStatus
from hub.cli import completing
from hub.cli.context import show, with_json
from hub.cli.foreground import run_here
from hub.cli.terminal.table import instant, table
from hub.errors import Code, HubError

_VERSION = 24


@click.command()
@with_json
def providers(ctx: click.Context, *, as_json: bool) -> None:
    """List every agent hub knows: installed, logged in, under which account. Needs no daemon.

    Example: hub providers
    """
    from hub.cli.local.offline import described, standings

    now = standings(ctx)
    rows = [
        ProviderRow(**attrs.asdict(one, recurse=False), runtime=now.get(one.name)) for one in described(ctx)
    ]
    show(rows, as_json=as_json, text=_table)


@attrs.frozen(kw_only=True)
class ProviderRow(ProviderConfig):
    """An agent, and how it stands where that is known."""

    runtime: ProviderStatus | None


def _table(entries: list[ProviderRow]) -> str:
    states = [_state(entry) for entry in entries]
    rows = [
        (entry.name, state, entry.install.version.partition(" (")[0][:_VERSION], entry.active_account, step)
        for entry, (state, _, step) in zip(entries, states, strict=True)
    ]
    shown = table(("AGENT", "STATE", "VERSION", "ACCOUNT", "NEXT"), rows, [colour for _, colour, _ in states])
    silent = [
        entry.probe.detail if entry.probe is not None else f"{entry.name} has not told its version yet"
        for entry in entries
        if entry.install.installed and not entry.install.version
    ]
    return "\n".join([shown, *silent])


def _state(entry: ProviderRow) -> tuple[str, str | None, str]:
    """A word, its colour, and the next step."""
    name, now = entry.name, entry.runtime
    if not entry.enabled:
        return "off", "bright_black", ""
    if not entry.install.installed:
        return "not installed", "bright_black", f"hub install {name}" if entry.install.command else ""
    if now is not None and now.resets_at:
        return f"{now.reason}, until {instant(now.resets_at, named=True)}", "red", "hub quota"
    if entry.auth.logged_in:
        return "ready", "green", ""
    if entry.auth.login_command:
        return "no login seen", "yellow", f"hub account login {name}, or: hub key set {name}"
    return "ready", "green", ""


@click.command()
@click.argument("provider", shell_complete=completing.providers)
@with_json
def install(ctx: click.Context, *, provider: str, as_json: bool) -> None:
    """Install an agent with its maker's own command, which is shown and run here. Needs no daemon.

    Example: hub install claude
    """
    from hub.actors.settings.program_jobs import install_command
    from hub.cli.local.offline import project
    from hub.io.processes.probe import which

    mine = project(ctx)
    agent = mine.provider(provider)
    code = run_here(install_command(agent), as_json=as_json)
    path = which(mine.config().provider(provider).program or agent.program)
    if code or not path:
        why = f"the install ended with status {code}" if code else f"{agent.program} is not on PATH"
        raise HubError(Code.AGENT_MISSING, f"{provider} is not installed: {why}.", hint="See: hub doctor")
    show(
        {"ok": True, "provider": provider, "path": path},
        as_json=as_json,
        text=lambda told: f"{provider} is installed: {told['path']}\nnext: hub account login {provider}",
    )
