"""What a task or a pipeline asks for, looked at before a daemon is started for it.

Owns: the refusals that need nothing but the project's files (a name that nothing has) and, where the daemon would be
one of this process, its PATH; and what these files tell of pipelines.
Must not: judge what only a daemon can know (who is logged in, or at a limit), or change anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

import attrs

from hub.actors.pipelines.answers import run_status
from hub.api.pipelines import RunStatus
from hub.cli.context import note_left_out
from hub.client.quick import unless_absent
from hub.domain.config.model import PipelineSettings
from hub.domain.config.profiles import together
from hub.domain.config.reader import Config
from hub.domain.missing import no_such
from hub.domain.pipeline.graph import check_runnable, named
from hub.errors import Code, HubError
from hub.io.config.file import settings
from hub.io.config.profiles import read_stored as stored_profiles
from hub.io.files.sealed import NotSealed
from hub.io.git.progress import ran
from hub.io.project.places import Places, find_project
from hub.io.project.trust import Gate
from hub.io.records.pipelines import read_stored as stored_pipelines
from hub.io.records.pipelines import run_store
from hub.io.records.store import RecordCorrupt
from hub.providers.provider import INSTALL_ANY, install_hint
from hub.providers.registry import load_all, names


def config_of(project: Path, flags: Mapping[str, object] | None = None, gate: Gate | None = None) -> Config:
    """The configuration as a daemon would read it; at the project's usual door, or at one of this time.

    Raises:
        HubError: `not_a_repository`, `config_invalid`.
    """
    places = Places(find_project(project))
    door = gate or Gate.of(places.root, os.environ)
    config = settings(places.config, environ=os.environ, flags=flags or {}, gate=door).config
    note_left_out(door)
    return config


def providers_of(project: Path, gate: Gate | None = None) -> Collection[str]:
    """Who may be named: the agents that ship with hub, and in a project those of its own."""
    config = unless_absent(partial(config_of, project, gate=gate), {Code.NOT_A_REPOSITORY})
    return load_all(lambda: config) if config is not None else names()


def pipelines_of(project: Path, gate: Gate | None = None) -> tuple[PipelineSettings, ...]:
    """The project's pipelines: those of `hub.toml`, and those the API has stored."""
    return together(config_of(project, gate=gate).pipelines, stored_pipelines(Places(find_project(project))))


def last_run_of(project: Path) -> RunStatus | None:
    """The newest run of a pipeline as it is on record; None where none was, or its record cannot be read."""
    try:
        run = run_store(Places(find_project(project))).look()
    except (NotSealed, RecordCorrupt):
        return None
    return run_status(run) if run is not None else None


def insist_on_commit(project: Path) -> None:
    """Refuse a repository that has nothing yet for a session to begin at.

    Raises:
        HubError: `not_a_repository`, `no_commit`.
    """
    root = find_project(project)
    code, _, _ = ran("rev-parse", "--verify", "--quiet", "HEAD", root=root)
    if code == 1:
        raise HubError(Code.NO_COMMIT, f"{root} has no commit yet.")


def insist_on_agent(config: Config, wanted: str = "") -> None:
    """Refuse a task for which no agent's program is there; a daemon with another PATH may know of one.

    Raises:
        HubError: `agent_missing`.
    """
    known = load_all(lambda: config)

    def installed(name: str) -> bool:
        return shutil.which(config.provider(name).program or known[name].program) is not None

    if wanted and not installed(wanted):
        raise HubError(Code.AGENT_MISSING, f"{wanted} is not installed.", hint=install_hint(known[wanted]))
    if not wanted and not any(map(installed, config.enabled_providers(known))):
        raise HubError(Code.AGENT_MISSING, "No agent is enabled and installed.", hint=INSTALL_ANY)


def insist_on_pipeline(project: Path, name: str, gate: Gate) -> None:
    """Refuse a pipeline that is not there, or cannot run.

    Raises:
        HubError: `not_found` with the names there are; `invalid` with every problem.
    """
    check_runnable(named(pipelines_of(project, gate), name), providers_of(project, gate))


def insist_on_names(project: Path, config: Config, asked: Mapping[str, str]) -> None:
    """Refuse a provider, a profile or a kind of task that is not there.

    Args:
        project: A folder of the project.
        config: Its configuration.
        asked: What was asked for, by `provider`, `profile` and `kind`; what was not asked for is missing.

    Raises:
        HubError: `invalid`, with what there is; `config_invalid` where the configuration's own chain names nobody.
    """
    known = load_all(lambda: config)
    if asked.get("provider", next(iter(known))) not in known:
        raise no_such("provider", asked["provider"], known, code=Code.INVALID)
    for name in config.session.chain:
        if name not in known:
            detail = f"[session] chain names {name!r}, and there is no such provider."
            raise HubError(Code.CONFIG_INVALID, detail, hint=f"Known: {', '.join(known)}.")
    if "profile" in asked or "kind" in asked:
        profiles = together(config.profiles, stored_profiles(Places(find_project(project))))
        whole = attrs.evolve(config, profiles=profiles)
        whole.profile(asked.get("profile", ""))
        if "kind" in asked:
            whole.profile_for(asked["kind"])
