"""What a task or a pipeline asks for, looked at before a daemon is started for it.

Owns: the refusals that need nothing but the project's files: a name that nothing has.
Must not: judge what only a daemon can know (who is installed, logged in, or at a limit), or change anything.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs

from hub.domain.config.model import Pipeline
from hub.domain.config.profiles import together as all_profiles
from hub.domain.config.reader import Config
from hub.domain.pipeline.graph import check_runnable, named
from hub.domain.pipeline.graph import together as all_pipelines
from hub.errors import Code, HubError
from hub.io.config_file import load
from hub.io.pipelines import read_stored as stored_pipelines
from hub.io.places import Places, find_project
from hub.io.profiles import read_stored as stored_profiles
from hub.providers.registry import load_all, names


def config_of(project: Path, flags: Mapping[str, object] | None = None) -> Config:
    """The configuration as a daemon would read it.

    Raises:
        HubError: `not_a_repository`, `config_invalid`.
    """
    return load(Places(find_project(project)).config, environ=os.environ, flags=flags or {})


def providers_of(project: Path) -> Collection[str]:
    """Who may be named: the agents that ship with hub, and in a project those of its own."""
    try:
        config = config_of(project)
    except HubError as error:
        if error.code is not Code.NOT_A_REPOSITORY:
            raise
        return names()
    return load_all(lambda: config)


def pipelines_of(project: Path) -> tuple[Pipeline, ...]:
    """The project's pipelines: those of `hub.toml`, and those the API has stored."""
    return all_pipelines(config_of(project).pipelines, stored_pipelines(Places(find_project(project))))


def insist_on_pipeline(project: Path, name: str) -> None:
    """Refuse a pipeline that is not there, or cannot run.

    Raises:
        HubError: `not_found` with the names there are; `invalid` with every problem.
    """
    check_runnable(named(pipelines_of(project), name), providers_of(project))


def insist_on_names(project: Path, config: Config, asked: Mapping[str, str]) -> None:
    """Refuse a provider, a profile or a kind of task that is not there.

    Args:
        project: A folder of the project.
        config: Its configuration.
        asked: What was asked for, by `provider`, `profile` and `kind`; what was not asked for is missing.

    Raises:
        HubError: `invalid`, with what there is.
    """
    known = load_all(lambda: config)
    if asked.get("provider", next(iter(known))) not in known:
        detail = f"There is no provider {asked['provider']!r}."
        raise HubError(Code.INVALID, detail, hint=f"Known: {', '.join(known)}.")
    if "profile" in asked or "kind" in asked:
        profiles = all_profiles(config.profiles, stored_profiles(Places(find_project(project))))
        whole = attrs.evolve(config, profiles=profiles)
        whole.profile(asked.get("profile", ""))
        if "kind" in asked:
            whole.profile_for(asked["kind"])
