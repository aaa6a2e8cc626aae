"""What a shell offers for an argument: sessions, agents, profiles, pipelines that there are.

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

from hub.errors import HubError

if TYPE_CHECKING:
    from hub.domain.config.model import PipelineSettings, ProfileSettings
    from hub.domain.config.reader import Config
    from hub.io.project.places import Places

_PATIENCE = 1.0
"""Seconds for the daemon's answer."""


def places_of(ctx: click.Context) -> Places | None:
    """Of the project that is meant; None outside of any."""
    from hub.client.place import root_of
    from hub.io.project.places import Places

    root = root_of(Path(ctx.find_root().params.get("project") or ".").absolute())
    return Places(root) if root is not None else None


def config_of(places: Places | None) -> Config | None:
    """As far as it is trusted; None where there is none, or none that can be read."""
    from hub.io.config.file import settings
    from hub.io.project.trust import Gate

    if places is None:
        return None
    try:
        return settings(places.config, environ=os.environ, gate=Gate.of(places.root, os.environ)).config
    except HubError:
        return None


def items(found: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Those that begin with what is typed."""
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def sessions(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The project's sessions, the newest first, each with its title; without a daemon those on record, by their ids."""
    from hub.api.sessions import Sessions
    from hub.client.quick import find
    from hub.io.records.sessions import found

    given = ctx.find_root().params
    project = Path(given.get("project") or ".").absolute()
    try:
        api = find(given.get("port") or None, project, timeout=_PATIENCE)
        known = {row.session_id: row.title for row in api.read(Sessions, "/api/sessions").sessions}
    except HubError:
        places = places_of(ctx)
        known = {record.session_id: "" for record in found(places)} if places is not None else {}
    return [
        CompletionItem(session_id, help=title)
        for session_id, title in reversed(known.items())
        if session_id.startswith(incomplete)
    ]


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
