"""What a shell offers for an argument: sessions, agents, profiles, pipelines, files that there are.

Owns: these lists.
Must not: wait for a daemon longer than a person waits for the Tab key, or show an error; there is nowhere to show it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from hub.client.place import root_of
from hub.client.quick import Api, find
from hub.errors import HubError

if TYPE_CHECKING:
    from hub.domain.config.model import PipelineSettings, ProfileSettings
    from hub.domain.config.reader import Config
    from hub.io.project.places import Places

_PATIENCE = 1.0
"""Seconds for the daemon's answer."""


def places_of(ctx: click.Context) -> Places | None:
    """Of the project that is meant; None outside of any."""
    from hub.io.project.places import Places

    root = root_of(Path(ctx.find_root().params.get("project") or ".").absolute())
    return Places(root) if root is not None else None


def config_of(places: Places | None) -> Config | None:
    """As far as it is trusted; None where there is none, or none that can be read."""
    from hub.io.config.accounts import read_added
    from hub.io.config.file import settings
    from hub.io.project.trust import Gate

    if places is None:
        return None
    try:
        added = read_added(places.accounts)
        gate = Gate.of(places.root, os.environ)
        return settings(places.config, environ=os.environ, added_accounts=added, gate=gate).config
    except HubError:
        return None


def items(found: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Those that begin with what is typed."""
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def files(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, which the shell itself looks for."""
    return [CompletionItem(incomplete, type="file")]


def folders(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Folders, as `files`."""
    return [CompletionItem(incomplete, type="dir")]


def sessions(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's sessions, the newest first, each with its title; without a daemon those on record, by their ids."""
    from hub.api.sessions import Sessions
    from hub.io.records.sessions import found

    try:
        rows = _daemon(ctx).read(Sessions, "/api/sessions").sessions
        known = {row.session_id: row.title for row in rows}
    except HubError:
        places = places_of(ctx)
        known = {record.session_id: "" for record in found(places)} if places is not None else {}
    return [
        CompletionItem(session_id, help=title)
        for session_id, title in reversed(known.items())
        if session_id.startswith(incomplete)
    ]


def approvals(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What waits for an answer, each with what it asks for; without a daemon nobody could give one."""
    from hub.api.approvals import Approval

    with suppress(HubError):
        waiting = _daemon(ctx).read(list[Approval], "/api/approvals")
        return [CompletionItem(one.id, help=one.action) for one in waiting if one.id.startswith(incomplete)]
    return []


def _daemon(ctx: click.Context) -> Api:
    given = ctx.find_root().params
    return find(given.get("port") or None, Path(given.get("project") or ".").absolute(), timeout=_PATIENCE)


def labels(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The accounts of the agent that stands before it."""
    config = config_of(places_of(ctx))
    if config is None:
        return []
    return items((one.label for one in config.accounts(ctx.params.get("provider") or "")), incomplete)


def words(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The commands below those that are typed, and at first the topics."""
    from hub.cli.topics import TOPICS

    at, typed = ctx.find_root().command, ctx.params.get("command") or ()
    for name in typed:
        found = at.get_command(ctx, name) if isinstance(at, click.Group) else None
        if found is None:
            return []
        at = found
    below = at.list_commands(ctx) if isinstance(at, click.Group) else []
    return items([*below, *(() if typed else TOPICS)], incomplete)


def providers(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents that ship with hub, and those of the project's own."""
    from hub.providers.registry import load_all, names

    config = config_of(places_of(ctx))
    return items(load_all(lambda: config) if config is not None else names(), incomplete)


def profiles(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's profiles: those of `hub.toml`, and those the API has stored."""
    from hub.domain.config.profiles import together
    from hub.io.config.profiles import read_stored

    return _stored(ctx, incomplete, lambda places, config: together(config.profiles, read_stored(places)))


def pipelines(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's pipelines: those of `hub.toml`, and those the API has stored."""
    from hub.domain.config.profiles import together
    from hub.io.records.pipelines import read_stored

    return _stored(ctx, incomplete, lambda places, config: together(config.pipelines, read_stored(places)))


def _stored(
    ctx: click.Context,
    incomplete: str,
    read: Callable[[Places, Config], Iterable[ProfileSettings | PipelineSettings]],
) -> list[CompletionItem]:
    """The names of what is read; none where it cannot be."""
    places = places_of(ctx)
    config = config_of(places)
    if places is not None and config is not None:
        with suppress(HubError):
            return items((one.name for one in read(places, config)), incomplete)
    return []
