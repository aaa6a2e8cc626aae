"""`hub quota`: the wallet.

Owns: how it is shown to people.
Must not: compute anything the daemon has not said.
"""

from __future__ import annotations

from typing import Any

import click

from hub.cli.context import client, json_option, show
from hub.cli.screen import gauge

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


@click.command()
@click.option("--windows", is_flag=True, help="Every window of each account, not its nearest wall alone.")
@json_option
@click.pass_context
def quota(ctx: click.Context, *, windows: bool, as_json: bool) -> None:
    """What every account has left, and when its wall will come.

    Example: hub quota --windows
    """
    rows = client(ctx).get("/api/quota/wallet")
    show(rows, as_json=as_json, text=lambda entries: table(entries, windows=windows))


def table(entries: list[dict[str, Any]], *, windows: bool = False) -> str:
    """The wallet for people: a bar, what is left, the pace, the wall, the reset, and where it all comes from."""
    rows = [
        (f"{entry['provider']}/{entry['account']}", *_cells(window), _elsewhere(entry))
        for entry in entries
        for window in (entry["windows"] if windows and entry["windows"] else [entry])
    ]
    if not rows:
        return "no provider is enabled - see: hub doctor"
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _cells(window: dict[str, Any]) -> tuple[str, ...]:
    used = window["fractionUsed"]
    if used is None:
        return "-", "[----------]", "not known yet", "", "", "", ""
    left = f"{window['remaining']:,} {'%' if window['unit'] == 'percent' else 'tokens'} left"
    return (
        window["window"] or "-",
        gauge(round(used * 1000)),
        f"{used:.1%} used",
        left,
        _pace(window),
        f"resets {window['resetsAt'][:16]}Z" if window["resetsAt"] else "reset not told",
        f"{window['source']}, {_ago(window['ageSeconds'])}",
    )


def _elsewhere(entry: dict[str, Any]) -> str:
    """What agents spent that hub did not start; an older daemon does not know."""
    tokens = entry.get("tokensElsewhere", 0)
    return f"{tokens:,} of {entry['tokensToday']:,} tokens today without hub" if tokens else ""


def _pace(window: dict[str, Any]) -> str:
    rate, eta = window["burnPerMin"], window["etaMinutes"]
    if rate is None:
        return f"pace: {window['forecast']}"
    if eta is None:
        return "nothing is used"
    unit = "%" if window["unit"] == "percent" else " tokens"
    span = f"{_long(window['etaLowMinutes'])} to {_long(window['etaHighMinutes'])}"
    return f"{rate:.2g}{unit}/min, wall in {_long(eta)} ({span})"


def _long(minutes: float) -> str:
    seconds = minutes * _MINUTE
    if seconds >= 2 * _DAY:
        return f"{seconds / _DAY:.0f} d"
    if seconds >= 2 * _HOUR:
        return f"{seconds / _HOUR:.0f} h"
    return f"{minutes:.0f} min"


def _ago(seconds: int) -> str:
    return f"{seconds} s old" if seconds < 2 * _MINUTE else f"{_long(seconds / _MINUTE)} old"
