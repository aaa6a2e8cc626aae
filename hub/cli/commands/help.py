"""`hub help` and `hub version`: what is there, and which one this is.

Owns: the way from a command's name to its help, and from a topic's to its text.
Must not: say anything of a command that `--help` does not.
"""

from __future__ import annotations

import json
import platform
import sys

import click

from hub import __version__
from hub.cli import completing
from hub.cli.context import with_json
from hub.cli.topics import topic


@click.command(name="help")
@click.argument("command", nargs=-1, metavar="[COMMAND | TOPIC]...", shell_complete=completing.words)
@with_json
def help_(ctx: click.Context, *, command: tuple[str, ...], as_json: bool) -> None:
    """Show help for a command; the same as its --help.

    Or for a topic: environment, exit-codes, errors, or an error's code.

    Example: hub help account add
    """
    at = ctx.find_root()
    if len(command) == 1 and (words := topic(command[0])):
        click.echo(json.dumps({"command": command[0], "help": words}) if as_json else words)
        return
    for number, name in enumerate(command):
        if not isinstance(at.command, click.Group):
            raise click.UsageError(f"{' '.join(command[:number])!r} has no commands of its own.", at)
        _, found, _ = at.command.resolve_command(at, [name])
        if found is not None:
            at = found.context_class(found, parent=at, info_name=name)
    text = at.get_help()
    click.echo(json.dumps({"command": " ".join(command), "help": text}) if as_json else text)


@click.command()
@with_json
def version(_: click.Context, *, as_json: bool) -> None:
    """Show hub's version and what it runs on.

    Example: hub version --json
    """
    told = {
        "version": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    line = f"hub {told['version']} (Python {told['python']}, {told['system']})"
    click.echo(json.dumps(told) if as_json else line)
