"""`hub doctor`: look for what keeps hub from working, and name the next step for each finding.

Owns: how findings are shown, what is mended when asked, and the checks of the agents.
Must not: take anything away, or mend what was not asked for.
Tests: tests/hub/cli/commands/test_setup.py
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import attrs
import click

from hub.actors.settings.entries import Entries
from hub.cli import checks
from hub.cli.checks import Finding
from hub.cli.context import project_dir, with_json
from hub.cli.ending import answer
from hub.cli.local.offline import OfflineProject
from hub.cli.terminal.width import advice, columns, hung
from hub.cli.trusting import on_terminal
from hub.cli.versions import Versions
from hub.domain.config.reader import Config
from hub.domain.permission.rules import asks
from hub.domain.text.safe import clean
from hub.errors import Code, HubError
from hub.io.processes.commands import base_env
from hub.io.processes.probe import ProgramProbe, which
from hub.io.project.places import Places, find_project
from hub.io.secrets.agent_keys import keys_of
from hub.providers.provider import INSTALL_ANY, Provider, install_hint, login_hint
from hub.providers.registry import load_all

_HANG, _NARROW, _NARROW_HANG = 22, 60, 5
"""Where the words of a finding begin, and the columns below which what follows them does not."""
_LIMIT = 2.2
"""Seconds for the versions of all agents: the whole is over within three."""


@click.command()
@click.option("--fix", is_flag=True, help="Say what can be fixed without removing anything, ask, and fix it.")
@click.option("-y", "--yes", is_flag=True, help="Fix it without asking.")
@with_json
def doctor(ctx: click.Context, *, fix: bool, yes: bool, as_json: bool) -> int:
    """Find what keeps hub from working. Exits with 1 if something does.

    Example: hub doctor --fix
    """
    if yes and not fix:
        raise HubError(Code.USAGE, "--yes goes with --fix.")
    findings = []
    for found in _all(project_dir(ctx)):
        findings.append(found)
        if not as_json and not found.absent:
            _show(found)
    if not as_json:
        _show_absent(findings)
    if wrong := [found for found in findings if found.mend and not found.ok]:
        if fix and (yes or _agreed(wrong, as_json=as_json)):
            mended = {found.check: _mended(found) for found in wrong}
            findings = [mended.get(found.check, found) for found in findings]
            for found in mended.values() if not as_json else ():
                _show(found)
        elif not as_json:
            answer("what is marked + can be mended: hub doctor --fix")
    if as_json:
        hidden = attrs.filters.exclude("mend", "absent")
        answer(json.dumps([attrs.asdict(found, filter=hidden) for found in findings]))
    return 0 if all(found.ok or found.warning for found in findings) else 1


def _agreed(wrong: Sequence[Finding], *, as_json: bool) -> bool:
    """Whether the user wants it mended.

    Raises:
        HubError: `usage`; nobody can be asked.
    """
    if as_json or not on_terminal():
        detail = "There is nobody to ask here: it needs a terminal, and nothing was changed."
        raise HubError(Code.USAGE, detail, hint="Say yes: hub doctor --fix --yes")
    click.echo("\nhub would do what this does:", err=True)
    for line in (line for found in wrong for line in found.hint.splitlines()):
        click.echo(f"  {clean(line.removeprefix('Run: '))}", err=True)
    return click.confirm("Mend it?", default=False, err=True)


def _mended(found: Finding) -> Finding:
    try:
        if found.mend is not None:
            found.mend()
    except (HubError, OSError) as error:
        return attrs.evolve(found, hint=f"{found.hint}\nIt could not be mended: {error}")
    return attrs.evolve(found, ok=True, detail=f"{found.detail}: mended")


def _show_absent(findings: Sequence[Finding]) -> None:
    """The agents that are not installed, in one line; where there is none at all, the fault has said so."""
    absent = [found for found in findings if found.absent]
    if absent and not (findings[-1].check == "agents" and findings[-1].hint == INSTALL_ANY):
        names = ", ".join(found.check for found in absent)
        hint = f"Install one, for example: hub install {absent[0].check}"
        _show(Finding("not installed", ok=False, detail=names, hint=hint, warning=True))


def _show(found: Finding) -> None:
    word, colour = ("ok", "green") if found.ok else ("note", "yellow") if found.warning else ("no", "red")
    plus = "+" if found.mend and not found.ok else " "
    width = columns(sys.stdout)
    hang = _NARROW_HANG if 0 < width < _NARROW else _HANG
    line = f"{click.style(f'{word:<4}', fg=colour)}{plus}{found.check:<16} {clean(found.detail)}"
    answer(hung(line, width, hang))
    for line in found.hint.splitlines() if not found.ok else ():
        answer(advice(clean(line), width, hang))


def _all(folder: Path) -> Iterator[Finding]:
    try:
        places = Places(find_project(folder))
    except HubError as error:
        yield from checks.machine()
        yield Finding("project", ok=False, detail=error.detail, hint=error.hint)
        return
    agents = _Agents.asked(places, _read_config(places))  # the slowest first: the rest is looked at meanwhile
    yield from checks.machine()
    yield Finding("project", ok=True, detail=str(places.root))
    yield from checks.project(places)
    yield from agents.findings()


def _read_config(places: Places) -> Config:
    """The configuration, or the built-in one where it does not validate (which is a finding of its own)."""
    try:
        return OfflineProject(places).config()
    except HubError:
        return Config()


@attrs.frozen
class _Agents:
    """The agents, while they are asked for their versions."""

    places: Places
    config: Config
    providers: list[Provider]
    versions: Versions

    @classmethod
    def asked(cls, places: Places, config: Config) -> _Agents:
        """Begin to ask; nothing waits for it yet."""
        providers = [p for p in load_all(lambda: config).values() if not p.name.startswith("demo")]
        return cls(places, config, providers, Versions.asked(config, providers, _LIMIT))

    def findings(self) -> Iterator[Finding]:
        """Each agent: one that is not installed or not logged in is a note, none that can work a fault."""
        known = load_all(lambda: self.config)
        installed = [p for p in self.providers if which(self.config.provider(p.name).program or p.program)]
        logins = Entries(self.places.dotenv, Path.home(), known).logins(self.config, installed, time.time())
        logged_out = {key for key, login in logins.items() if login is False}
        unseen = {key for key, login in logins.items() if login is None}
        for provider in self.providers:
            if provider not in installed:
                hint = install_hint(provider)
                yield Finding(provider.name, False, "not installed", hint, warning=True, absent=True)
            else:
                yield _agent(provider, self.versions.of(provider.name), self.config, logged_out, unseen)
                yield from _refusal(self.places, provider, self.config)
        if not installed:
            names = ", ".join(provider.name for provider in self.providers)
            yield Finding("agents", ok=False, detail=f"none is installed: {names}", hint=INSTALL_ANY)
        elif not self.config.session.chain and all(_is_all(p, self.config, logged_out) for p in installed):
            yield Finding("agents", ok=False, detail="none is logged in", hint=login_hint(installed[0]))


def _is_all(provider: Provider, config: Config, found: Collection[tuple[str, str]]) -> bool:
    """Whether all of its accounts are among these."""
    return all((provider.name, account.label) in found for account in config.accounts(provider.name))


def _refusal(places: Places, provider: Provider, config: Config) -> Iterator[Finding]:
    """Whether its agent would refuse this user: it is passed by when hub chooses who works."""
    if os.geteuid():
        return
    name = provider.name
    keys = keys_of(places.dotenv, name, load_all(lambda: config))
    env = {**base_env(), **keys, **config.provider(name).env, **config.accounts(name)[0].env}
    why, hint = provider.refuses_root(config.provider(name).options, env, asks=asks(config.approvals, name))
    if why:
        yield Finding(f"{name} as root", ok=False, detail=why, hint=hint, warning=True)


def _agent(
    provider: Provider,
    found: ProgramProbe | None,
    config: Config,
    logged_out: Collection[tuple[str, str]],
    unseen: Collection[tuple[str, str]],
) -> Finding:
    """An agent that is installed."""
    detail = found.detail if found is not None else f"{provider.program} did not answer within {_LIMIT:g} s"
    silent = found is None or not found.ok
    program = config.provider(provider.name).program or provider.program
    hints = [f"See what it says: {shlex.join([program, *provider.version_args])}"] if silent else []
    if _is_all(provider, config, unseen):
        detail = f"{detail}, no login seen"  # its server may need none
    if _is_all(provider, config, logged_out):
        said = "not logged in" if config.session.chain else "not logged in: left out of the default chain"
        detail = f"{detail}, {said}"
        hints.append(login_hint(provider))
    return Finding(provider.name, ok=not hints, detail=detail, hint="\n".join(hints), warning=True)
