"""What a shell offers for an argument: the sessions there are, the agents there are.

Owns: these lists.
Must not: wait for a daemon longer than a person waits for the Tab key, or show an error; there is nowhere to show it.
"""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from hub.errors import HubError

_PATIENCE = 1.0
"""Seconds for the daemon's answer."""


def sessions(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's sessions, the newest first, each with its title; without a daemon those on record."""
    from hub.api.sessions import Sessions
    from hub.cli.records import Records

    given = ctx.find_root().params  # of the command itself nothing has been run
    ctx.obj = {"project": given.get("project") or "", "port": given.get("port")}
    try:
        rows = Records(ctx, timeout=_PATIENCE).read(Sessions, "/api/sessions").sessions
    except HubError:
        return []
    return [
        CompletionItem(row.session_id, help=row.title)
        for row in reversed(rows)
        if row.session_id.startswith(incomplete)
    ]


def providers(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents that ship with hub."""
    from hub.providers.registry import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]
