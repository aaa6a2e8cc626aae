"""`hub service`: a project's daemon as a service of the user's, started at login by systemd or launchd.

Owns: the unit's text, its name and its place.
Must not: run as root for the whole machine: a daemon serves one user.
"""

from __future__ import annotations

import hashlib
import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs
import click

from hub.cli.base import Group
from hub.cli.context import project_dir, trust_option, with_json
from hub.errors import Code, HubError

_HOLDS_ON = (2, 5, 74, 75, 76)
"""Exit statuses that another start would only repeat: a wrong setting, no trust, a broken disk, a taken lock or port."""
_STOP = 120
"""Seconds for the session to end in order."""
_VARIABLES = ("HUB_CONFIG_DIR", "HUB_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "IS_SANDBOX")
"""Beside PATH, what a daemon of the login would not have, and finds its files by."""


@attrs.frozen
class Unit:
    """One project's service."""

    root: Path
    environ: Mapping[str, str]
    darwin: bool = sys.platform == "darwin"

    @property
    def name(self) -> str:
        """`hub-site-1a2b3c4d`: for people, and of this path alone."""
        label = re.sub(r"[^A-Za-z0-9]+", "-", self.root.name).strip("-") or "project"
        return f"hub-{label[:40]}-{hashlib.sha256(os.fsencode(self.root)).hexdigest()[:8]}"

    @property
    def path(self) -> Path:
        """Where the user's service manager looks for it."""
        home = Path.home()
        if self.darwin:
            return home / "Library/LaunchAgents" / f"{self.name}.plist"
        return (
            Path(self.environ.get("XDG_CONFIG_HOME") or home / ".config")
            / "systemd/user"
            / f"{self.name}.service"
        )

    @property
    def variables(self) -> dict[str, str]:
        """The environment that agents are found in; a service has none of what a shell has read."""
        kept = {name: self.environ[name] for name in _VARIABLES if self.environ.get(name)}
        return {"PATH": self.environ.get("PATH", os.defpath), **kept}

    @property
    def command(self) -> list[str]:
        """How the daemon is started; -P, for where a service stands there may be a folder called hub."""
        return [sys.executable, "-P", "-m", "hub", "--project", str(self.root), "daemon"]

    def text(self) -> bytes:
        """The file."""
        return self._plist() if self.darwin else self._systemd().encode()

    def _systemd(self) -> str:
        variables = "".join(
            f"Environment={_quoted(f'{name}={value}')}\n" for name, value in self.variables.items()
        )
        # KillMode=process: agents outlive a daemon that dies, and the next one takes hold of them again.
        return (
            f"[Unit]\nDescription=hub for {_percent(str(self.root))}\n\n"
            f"[Service]\nExecStart={' '.join(_quoted(word).replace('$', '$$') for word in self.command)}\n{variables}"
            f"Restart=on-failure\nRestartSec=2\nRestartPreventExitStatus={' '.join(map(str, _HOLDS_ON))}\n"
            f"KillMode=process\nTimeoutStopSec={_STOP}\n\n"
            "[Install]\nWantedBy=default.target\n"
        )

    def _plist(self) -> bytes:
        return plistlib.dumps(
            {
                "Label": self.name,
                "ProgramArguments": self.command,
                "EnvironmentVariables": self.variables,
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "AbandonProcessGroup": True,
                "ExitTimeOut": _STOP,
            }
        )

    def control(self, verb: str) -> list[list[str]]:
        """The commands that bring the service manager to `start`, `stop` or `ask`."""
        if self.darwin:
            domain = f"gui/{os.getuid()}"
            return {
                "start": [["launchctl", "bootstrap", domain, str(self.path)]],
                "stop": [["launchctl", "bootout", f"{domain}/{self.name}"]],
                "ask": [["launchctl", "print", f"{domain}/{self.name}"]],
            }[verb]
        user = ["systemctl", "--user"]
        return {
            "start": [[*user, "daemon-reload"], [*user, "enable", "--now", f"{self.name}.service"]],
            "stop": [[*user, "disable", "--now", f"{self.name}.service"]],
            "ask": [[*user, "is-active", f"{self.name}.service"]],
        }[verb]


def _percent(text: str) -> str:
    """A text in a unit, in which % begins a specifier and a line is a setting."""
    return text.replace("%", "%%").replace("\n", "\\n")


def _quoted(text: str) -> str:
    """One word of a unit, whatever is in it; in a command, a $ is doubled beside."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_percent(escaped)}"'


@click.group(cls=Group)
def service() -> None:
    """Run this project's daemon as a service that starts when you log in.

    Example: hub service install
    """


@service.command()
@trust_option
@with_json
def install(ctx: click.Context, *, once: bool, as_json: bool) -> None:
    """Install the service and start it. Run it again to bring it up to date.

    Example: hub service install
    """
    from hub.cli.trusting import insist_on_trust
    from hub.io.files.atomic import coded_errors

    insist_on_trust(project_dir(ctx), once=once, as_json=as_json)
    unit = _unit(ctx)
    with coded_errors(unit.path):
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        unit.path.write_bytes(unit.text())
    _run(unit, "start")
    told = {"name": unit.name, "path": str(unit.path), "project": str(unit.root)}
    lines = [
        f"wrote {unit.path}",
        "the daemon runs, and starts again when you log in; see: hub service status",
    ]
    if not unit.darwin:
        lines.append(
            f"to have it before you log in: loginctl enable-linger; its log: journalctl --user -u {unit.name}"
        )
    click.echo(json.dumps(told) if as_json else "\n".join(lines))


@service.command()
@with_json
def status(ctx: click.Context, *, as_json: bool) -> None:
    """Show whether there is a service and whether it runs. Exits with 3 if there is none.

    Example: hub service status
    """
    unit = _unit(ctx)
    if not unit.path.exists():
        raise HubError(
            Code.NOT_FOUND, f"There is no service for {unit.root}.", hint="Make one: hub service install"
        )
    asked = subprocess.run(unit.control("ask")[0], capture_output=True, text=True, check=False)
    state = (
        ("active" if asked.returncode == 0 else "inactive")
        if unit.darwin
        else asked.stdout.strip() or "unknown"
    )
    current = unit.path.read_bytes() == unit.text()
    told = {"name": unit.name, "path": str(unit.path), "state": state, "current": current}
    stale = (
        "" if current else "\nit was written by another hub or another PATH; to renew it: hub service install"
    )
    click.echo(json.dumps(told) if as_json else f"{unit.name}: {state} ({unit.path}){stale}")


@service.command()
@with_json
def remove(ctx: click.Context, *, as_json: bool) -> None:
    """Stop the service and remove it.

    Example: hub service remove
    """
    unit = _unit(ctx)
    if not unit.path.exists():
        raise HubError(
            Code.NOT_FOUND, f"There is no service for {unit.root}.", hint="Nothing is to be removed."
        )
    stopped = "the daemon has stopped"
    try:
        _run(unit, "stop")
    except HubError as error:  # in a container nobody may be there to ask; then nobody starts it either
        stopped = f"the service manager could not be asked: {error.detail}"
    unit.path.unlink()
    (unit.path.parent / "default.target.wants" / unit.path.name).unlink(missing_ok=True)
    told = {"name": unit.name, "path": str(unit.path)}
    click.echo(json.dumps(told) if as_json else f"removed {unit.path}; {stopped}")


def _unit(ctx: click.Context) -> Unit:
    from hub.io.project.places import find_project

    return Unit(Path(os.path.realpath(find_project(project_dir(ctx)))), os.environ)


def _run(unit: Unit, verb: str) -> None:
    """Have the service manager do it.

    Raises:
        HubError: `program_missing`, or `unavailable` with its own words.
    """
    for command in unit.control(verb):
        if shutil.which(command[0]) is None:
            raise HubError(
                Code.PROGRAM_MISSING,
                f"{command[0]} is not here, which starts services.",
                hint="Without it the daemon is started by hand: hub daemon",
            )
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HubError(
                Code.UNAVAILABLE,
                f"{' '.join(command)}: {done.stderr.strip() or f'exit status {done.returncode}'}",
                hint=f"The service is described in {unit.path}. Without a service: hub daemon",
            )
