"""What a shell offers for an argument: the sessions there are, the agents there are.

Owns: these lists.
Must not: wait for a daemon longer than a person waits for the Tab key, or show an error; there is nowhere to show it.
"""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from hub.errors import HubError

_PATIENCE = 1.0
"""Seconds for the daemon's answer."""


def sessions(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's sessions, the newest first, each with its title; without a daemon those on record, by their ids."""
    from hub.api.sessions import Sessions
    from hub.client.place import root_of
    from hub.client.quick import find
    from hub.io.project.places import Places
    from hub.io.records.sessions import found

    given = ctx.find_root().params
    project = Path(given.get("project") or ".").absolute()
    try:
        api = find(given.get("port") or None, project, timeout=_PATIENCE)
        known = {row.session_id: row.title for row in api.read(Sessions, "/api/sessions").sessions}
    except HubError:
        root = root_of(project)
        known = {record.session_id: "" for record in found(Places(root))} if root is not None else {}
    return [
        CompletionItem(session_id, help=title)
        for session_id, title in reversed(known.items())
        if session_id.startswith(incomplete)
    ]


def providers(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents that ship with hub."""
    from hub.providers.registry import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]
