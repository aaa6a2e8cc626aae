"""`hub quota`: the wallet.

Owns: how it is shown to people.
Must not: compute anything the daemon has not said.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime

import click

from hub.api.quota import Entry, Window
from hub.cli.commands.sessions import everywhere
from hub.cli.context import client, project_dir, show, with_json
from hub.cli.local.records import Records
from hub.cli.terminal.clock import Clock
from hub.cli.terminal.screen import gauge, window_name
from hub.cli.terminal.table import table as table_of
from hub.cli.terminal.width import advice, columns, hung
from hub.client.place import root_of
from hub.domain.config.reader import Config
from hub.domain.quota.spoken import OUTLOOKS, SOURCES_BRIEFLY
from hub.domain.text.figures import MINUTE, span
from hub.errors import HubError

_HEADINGS = ("ACCOUNT", "WINDOW", "", "USED", "LEFT", "PACE", "RESET", "SOURCE", "WITHOUT HUB")
_UNKNOWN = "unknown until its agent tells it or meets its limit"


@click.command()
@click.option(
    "--windows", is_flag=True, help="Show every quota window, not only the one that runs out first."
)
@with_json
def quota(ctx: click.Context, *, windows: bool, as_json: bool) -> None:
    """Show what every account has left and when it runs out. Needs no daemon and no project.

    Without a daemon: what the last one knew. Outside a project: what the daemons of all projects know.

    Example: hub quota --windows
    """
    here = root_of(project_dir(ctx)) is not None or client(ctx).named
    rows = Records(ctx).read(list[Entry], "/api/quota/wallet") if here else _everywhere()
    show(
        rows, as_json=as_json, text=lambda entries: _told(ctx, _worth_showing(ctx, entries), windows=windows)
    )


def _everywhere() -> list[Entry]:
    """Each account once, as whoever looked last has it."""
    found = everywhere(lambda _, api: api.read(list[Entry], "/api/quota/wallet"))
    newest = sorted(found, key=lambda entry: str(entry.read_at or ""))
    return list({(entry.provider, entry.account): entry for entry in newest}.values())


def _worth_showing(ctx: click.Context, entries: list[Entry]) -> list[Entry]:
    """Not those of agents that are not installed, unless something is known of them."""
    from hub.cli.local.offline import described

    known = [entry for entry in entries if entry.fraction_used is not None or entry.tokens_today]
    if len(known) == len(entries):
        return entries
    installed = {agent.name for agent in described(ctx, versions=False) if agent.install.installed}
    return [entry for entry in entries if entry in known or entry.provider in installed]


def _told(ctx: click.Context, entries: list[Entry], *, windows: bool) -> str:
    """The wallet, and below it what would make known what is not."""
    from hub.cli.local.offline import around

    unknown, config = dict.fromkeys(one.provider for one in entries if not _is_known(one)), Config()
    if unknown:
        with suppress(HubError):  # a daemon that runs has an earlier one of it
            config = around(ctx).config()
    return "\n".join([table(entries, windows=windows), *(_way(name, config) for name in unknown)])


def _way(provider: str, config: Config) -> str:
    from hub.providers.registry import quota_client

    if quota_client(provider) is None:
        words = f"count a cap of yours: hub config set providers.{provider}.declaredCap TOKENS_A_DAY"
    elif config.provider(provider).quota_endpoint:
        words = f"its maker has not told it yet; is {provider} logged in? hub doctor"
    else:
        words = f"let hub ask its maker: hub config set --user providers.{provider}.quotaEndpoint true"
    return advice(words, columns(sys.stdout), 2)


def _is_known(entry: Entry) -> bool:
    return entry.fraction_used is not None or bool(entry.tokens_elsewhere)


def table(entries: list[Entry], *, windows: bool = False, now: datetime | None = None) -> str:
    """The wallet for people: a bar, what is left, the pace, the wall, the reset, and where it all comes from."""
    now = now or datetime.now(UTC)
    clock = Clock(now.timestamp())
    known = [entry for entry in entries if _is_known(entry)]
    rows = [
        (_name(entry), *_cells(window, now, clock), _elsewhere(entry))
        for entry in known
        for window in (entry.windows if windows and entry.windows else [entry])
    ]
    if not entries:
        return "no quota is known: no agent is installed, or none has worked yet - see: hub providers"
    shown = [table_of(_HEADINGS, rows)] if rows else []
    if unknown := [_name(entry) for entry in entries if entry not in known]:
        shown.append(hung(f"{_UNKNOWN}: {', '.join(unknown)}", columns(sys.stdout), 2))
    return "\n\n".join(shown)


def _name(entry: Entry) -> str:
    return f"{entry.provider}/{entry.account}"


def _cells(window: Window, now: datetime, clock: Clock) -> tuple[str, ...]:
    used = window.fraction_used
    if used is None:
        return "-", "[----------]", "unknown", "", "", "", ""
    unit = "%" if window.unit == "percent" else "tokens"
    left = f"{window.remaining:,} {unit}" if window.remaining is not None else ""
    return (
        window_name(window.window) or "-",
        gauge(round(used * 1000)),
        f"{used:.0%}",
        left,
        _pace(window),
        _reset(window.resets_at, now, clock),
        f"{SOURCES_BRIEFLY[window.source]}, {span(window.age_seconds or 0)} old",
    )


def _elsewhere(entry: Entry) -> str:
    """What agents spent that hub did not start."""
    tokens = entry.tokens_elsewhere
    return f"{tokens:,} of {entry.tokens_today:,} tokens today without hub" if tokens else ""


def _pace(window: Window) -> str:
    rate, eta = window.burn_per_min, window.eta_minutes
    low, high = window.eta_low_minutes, window.eta_high_minutes
    if rate is None:
        return OUTLOOKS.get(window.forecast, window.forecast).removeprefix("pace ")
    if eta is None or low is None or high is None:
        return "nothing is used"
    unit = "%" if window.unit == "percent" else " tokens"
    return f"{rate:.2g}{unit}/min, wall in {_span(eta)} ({_span(low)} to {_span(high)})"


def _reset(at: str | None, now: datetime, clock: Clock) -> str:
    """In how long, and when; a reset that lies behind us has been, whatever the provider has not told since."""
    if not at:
        return "not known"
    minutes = (datetime.fromisoformat(at) - now).total_seconds() / MINUTE
    if minutes <= 0:
        return f"was {clock.at(at)}"
    return f"in {_span(minutes)} ({clock.at(at)})"


def _span(minutes: float) -> str:
    return span(minutes * MINUTE)
