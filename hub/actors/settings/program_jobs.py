"""Installs and logins: the commands the agents' makers name, run where the user sees them.

Owns: what is run for which provider and account, and as which job.
Must not: run anything but a command of the table in the adapters, or put a key into an environment or a script.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs

from hub.actors.common.command_runs import InBackground, InTerminal
from hub.actors.common.job import Job, Jobs
from hub.actors.settings.entries import Entries
from hub.api.jobs import Begun
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.missing import invalid_field
from hub.domain.terminal import TerminalCommand
from hub.errors import Code, HubError
from hub.io.config.accounts import make_home
from hub.io.processes.probe import probe, which
from hub.providers.provider import Provider, install_hint

INSTALLERS = frozenset({"npm", "pip", "pipx", "uv"})
"""The programs an install may be run by; each gets the fixed arguments of an adapter."""


@attrs.frozen
class ProgramJobs:
    """Starts jobs; one of a kind at a time."""

    jobs: Jobs
    folder: Path
    """Where scripts are put."""
    current: Callable[[], Config]
    entries: Entries
    clock: Callable[[], float]

    async def install(self, provider: Provider, *, background: bool) -> Begun:
        """Run the documented install.

        Raises:
            HubError: `invalid`, `agent_missing` (the installer), `no_terminal`, `job_running`.
        """
        title, command = f"installing {provider.name}", install_command(provider)

        async def ended(code: int) -> str:
            return await self._installed(provider, code)

        work: Job
        if background:
            work = InBackground(title, provider.name, command, self.entries.home, ended)
        else:
            work = self._in_terminal(title, provider, command, ended, keep=True)
        job = f"install {provider.name}"
        await self.jobs.start(job, work)
        return _begun(job, provider, "", command, work)

    async def log_in(self, provider: Provider, account: Account, field: str) -> Begun:
        """Run the agent's own login, pointed at the account's directory.

        Raises:
            HubError: `invalid`, `agent_missing`, `no_terminal`, `job_running`.
        """
        command = login_command(self.current(), provider, account, field)
        make_home(account)

        async def ended(code: int) -> str:
            return self._logged_in(provider, account.label, code)

        title = f"logging in {provider.name} as {account.label}"
        work = self._in_terminal(title, provider, command, ended, keep=False)
        job = f"login {provider.name} {account.label}"
        await self.jobs.start(job, work)
        return _begun(job, provider, account.label, command, work)

    def _in_terminal(
        self,
        title: str,
        provider: Provider,
        command: TerminalCommand,
        ended: Callable[[int], Awaitable[str]],
        *,
        keep: bool,
    ) -> InTerminal:
        terminal = self.current().terminal.command
        return InTerminal(
            title, provider.name, command, self.folder / self.jobs.new_id("job"), terminal, ended, keep
        )

    async def _installed(self, provider: Provider, code: int) -> str:
        program = self.current().provider(provider.name).program or provider.program
        found = await probe(program, provider.version_args)
        if code == 0 and found.ok:
            return f"{provider.name} is installed: {found.version}"
        why = f"the install ended with status {code}" if code else f"{program} is not on PATH"
        raise HubError(
            Code.AGENT_MISSING, f"{provider.name} is not installed: {why}.", hint=install_hint(provider)
        )

    def _logged_in(self, provider: Provider, label: str, code: int) -> str:
        config = self.current()
        found = self.entries.kept_login(config, provider, config.account(provider.name, label))
        if found is not None and found.good(self.clock()):
            return f"{provider.name} is logged in as {label}"
        if code == 0 and not provider.login_stores:
            return f"the login of {provider.name} as {label} has ended; hub cannot see whether it succeeded"
        raise HubError(Code.AUTH_NEEDED, f"{provider.name} is not logged in as {label}.", hint="Try again.")


def install_command(provider: Provider) -> TerminalCommand:
    """The documented install.

    Raises:
        HubError: `invalid`; there is none. `agent_missing`; the installer is not installed.
    """
    argv = tuple(provider.install_command)
    if not argv or argv[0] not in INSTALLERS:
        raise invalid_field("name", f"hub knows no way to install {provider.name}.", install_hint(provider))
    if not which(argv[0]):
        hint = f"Install it, then run: {shlex.join(argv)}"
        raise HubError(Code.AGENT_MISSING, f"{argv[0]} is not installed.", hint=hint)
    return TerminalCommand(argv)


def login_command(
    config: Config, provider: Provider, account: Account, field: str = "provider"
) -> TerminalCommand:
    """The agent's own login for one account; keys are left out, for it is to find its own.

    `field`: where the request names the provider.

    Raises:
        HubError: `invalid`; it has none. `agent_missing`; its program is not installed.
    """
    if not provider.login_command:
        detail = f"{provider.name} has no login of its own."
        raise invalid_field(field, detail, f"Give it a key: hub key set {provider.name}")
    program = which(config.provider(provider.name).program or provider.program)
    if not program:
        raise HubError(Code.AGENT_MISSING, f"{provider.name} is not installed.", hint=install_hint(provider))
    env = provider.account_env(attrs.evolve(account, env={}))
    try:
        return TerminalCommand((program, *provider.login_command[1:]), env)
    except ValueError as error:
        raise invalid_field(field, f"{provider.name}: {error}.", "Correct it in hub.toml.") from error


def _begun(job: str, provider: Provider, account: str, command: TerminalCommand, work: Job) -> Begun:
    opened = work.opened if isinstance(work, InTerminal) else None
    terminal = opened.program if opened is not None else ""
    return Begun(job=job, provider=provider.name, account=account, command=command.text(), terminal=terminal)
