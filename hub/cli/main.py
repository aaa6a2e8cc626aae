"""The command `hub`: the list of commands and the way every one of them ends.

Owns: which module holds which command, and the translation of errors into text, JSON and exit status.
Must not: import a command before it is asked for; a short command must start fast.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from hub import __version__
from hub.errors import Code, HubError

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("hub.cli.run", "Run a task: start an agent and watch it to its end."),
    "demo": ("hub.cli.demo", "Show a whole handoff between two scripted agents; needs nothing."),
    "daemon": ("hub.cli.daemon", "Serve a project until stopped."),
    "status": ("hub.cli.status", "What the session does now."),
    "logs": ("hub.cli.logs", "The event log."),
    "handoff": ("hub.cli.control", "Hand the work to the next agent now."),
    "pause": ("hub.cli.control", "Hold the agent at the next event."),
    "resume": ("hub.cli.control", "Let the agent go on."),
    "reply": ("hub.cli.control", "Answer the agent's question."),
    "stop": ("hub.cli.control", "End the session in order, snapshot included."),
    "diff": ("hub.cli.diff", "What the session has changed."),
    "history": ("hub.cli.history", "The audit timeline and the snapshots."),
    "rewind": ("hub.cli.history", "Make a branch at a snapshot; nothing is lost."),
    "audit": ("hub.cli.audit", "Check the tamper-evident audit log."),
    "init": ("hub.cli.init", "Write a commented hub.toml."),
    "doctor": ("hub.cli.doctor", "Look for what keeps hub from working."),
}
"""Name -> module and one line of help. The function has the command's name."""


class LazyGroup(click.Group):
    """Imports a command's module when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of a session."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for --help, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hub")
@click.option("--project", "-C", default="", metavar="DIR", help="The project; default: the one around this folder.")
@click.option("--port", default=None, type=click.IntRange(0, 65535), help="The daemon's port.")
@click.pass_context
def cli(ctx: click.Context, project: str, port: int | None) -> None:
    """Run AI coding agents, see the quota wall coming, and hand the work over with nothing lost."""
    ctx.obj = {"project": project, "port": port}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(run(arguments))


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit status."""
    try:
        result: Any = cli.main(arguments, prog_name="hub", standalone_mode=False)
    except HubError as error:
        return fail(error, as_json="--json" in arguments)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        wrapped = HubError(Code.USAGE, error.format_message())
        return fail(wrapped, as_json="--json" in arguments)
    except (click.Abort, KeyboardInterrupt):
        return fail(HubError(Code.INTERRUPTED, "Interrupted."), as_json="--json" in arguments)
    except BrokenPipeError:
        # The reader has left (`hub logs | head`): nothing is wrong, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result if isinstance(result, int) else 0


def fail(error: HubError, *, as_json: bool) -> int:
    """Say what, why and the next step; returns the exit status."""
    if as_json:
        click.echo(json.dumps({"error": error.problem()}))
    else:
        click.echo(f"hub: {error.detail}", err=True)
        if error.hint:
            click.echo(f"     {error.hint}", err=True)
    return error.exit_status


if __name__ == "__main__":
    main()
