"""`hub open`: the daemon's page in the user's browser.

Owns: the address, and who opens it.
Must not: start a daemon, or put a token into an address.
"""

from __future__ import annotations

import os

import click

from hub.api.health import Health
from hub.cli.context import client, json_option, show


@click.command(name="open")
@click.option("--print", "only_print", is_flag=True, help="Only print the address.")
@json_option
@click.pass_context
def open_(ctx: click.Context, *, only_print: bool, as_json: bool) -> None:
    """Open the daemon's page in your browser and print its address.

    Example: hub open
    """
    api = client(ctx)
    api.read(Health, "/api/health")
    url = f"{api.url}/"
    show({"url": url}, as_json=as_json, text=lambda found: found["url"])
    if not (only_print or as_json) and _has_screen():
        click.launch(url)


def _has_screen() -> bool:
    """Whether a browser could be seen: over ssh, or in a container, the address alone is of use."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))
