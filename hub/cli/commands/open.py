"""`hub open`: the daemon's page in the user's browser.

Owns: the address, who opens it, and the question whether a daemon is to be started for it.
Must not: put a token into an address.
"""

from __future__ import annotations

import os

import click

from hub.cli.context import show, with_json
from hub.cli.local.background import at_hand
from hub.cli.trusting import on_terminal


@click.command(name="open")
@click.option("--print", "only_print", is_flag=True, help="Only print the address.")
@with_json
def open_(ctx: click.Context, *, only_print: bool, as_json: bool) -> None:
    """Open the daemon's page in your browser and print its address.

    Where no daemon runs, it offers to start one.

    Example: hub open
    """
    question = "No daemon runs here. Start one in the background?"

    def wanted() -> bool:
        return not as_json and on_terminal() and click.confirm(question, default=True, err=True)

    api = at_hand(ctx, may=wanted)
    url = f"{api.url}/"
    show({"url": url}, as_json=as_json, text=lambda found: found["url"])
    if not (only_print or as_json) and _has_screen():
        click.launch(url)


def _has_screen() -> bool:
    """Whether a browser could be seen: over ssh, or in a container, the address alone is of use."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))
