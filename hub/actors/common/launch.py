"""From an assignment to what the runner starts.

Owns: the agent's environment: the allow-listed base, the provider's own names, the account's keys, nothing else.
Must not: start anything, or put a long text or a key into argv.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from hub.domain.config.reader import Config
from hub.domain.permission.rules import unenforceable
from hub.errors import Code, HubError
from hub.io.files.named import texts
from hub.io.processes.commands import base_env
from hub.io.runner.launch import AgentLaunch
from hub.providers.base import Assignment, Launch
from hub.providers.provider import Provider, install_hint

_SPOOL = 2 * 1024**3
"""Bytes of one run that are kept: more than any task needs, and a runaway agent does not fill the disk."""


def agent_launch(
    provider: Provider, assignment: Assignment, config: Config, own: Mapping[str, str]
) -> AgentLaunch:
    """How the runner starts the agent of this assignment.

    Args:
        provider: Whose agent.
        assignment: What it is to do.
        config: The settings in force.
        own: What the user set for this provider and account.

    Raises:
        HubError: `dispatch_failed`; the program is not there.
    """
    launch = provider.launch(assignment)
    env = _env(provider, assignment, launch, own)
    lets = provider.loose(assignment, env, texts) if assignment.asks else {}
    if why := unenforceable(config.approvals, provider.name, lets):
        detail = f"{provider.name} is not started under your [[approvals]]: {why}"
        raise HubError(
            Code.DISPATCH_FAILED,
            detail,
            hint="Change that, or give the rule the `provider` or the `tool` it is meant for.",
        )
    program = shutil.which(launch.argv[0], path=env.get("PATH"))
    if program is None:
        raise HubError(
            Code.DISPATCH_FAILED, f"{launch.argv[0]} is not installed.", hint=install_hint(provider)
        )
    given = {} if (path := assignment.envelope_path) is None else {path.name: assignment.envelope.encode()}
    return AgentLaunch(
        argv=[program, *launch.argv[1:]],
        env=env,
        cwd=launch.cwd,
        stdin=launch.stdin.value,
        files={**launch.files, **given},
        orphan_grace=config.session.orphan_grace,
        spool_limit=_SPOOL,
    )


def agent_env(provider: Provider, assignment: Assignment, own: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of the agent of this assignment; see `agent_launch`."""
    return _env(provider, assignment, provider.launch(assignment), own)


def _env(
    provider: Provider, assignment: Assignment, launch: Launch, own: Mapping[str, str]
) -> dict[str, str]:
    return {**base_env(), **own, **provider.account_env(assignment.account), **launch.env}
