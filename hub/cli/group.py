"""The commands of `hub`, and the one place where they are run.

Owns: which module holds which command, and what `--project`, `--port` and the colour variables mean to all.
Must not: import a command before it is asked for; a short command must start fast.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Mapping

import click
from click.shell_completion import CompletionItem

from hub import __version__
from hub.cli.base import Group
from hub.cli.ending import ReaderLeftError, ended_by
from hub.domain.terminal import supports_ansi

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "init": ("init", "Write a commented hub.toml."),
        "doctor": ("doctor", "Find what keeps hub from working."),
        "trust": ("trust", "Show what this project would run, and trust it."),
        "demo": ("demo", "Show a whole handoff between two scripted agents."),
        "run": ("run", "Run a task: start an agent and watch it to its end."),
    },
    "Sessions": {
        "ls": ("sessions", "List sessions, those that need you first."),
        "attach": ("attach", "Watch a running session and answer it in place."),
        "status": ("status", "Show what a session is doing now."),
        "logs": ("logs", "Show the event log."),
        "diff": ("diff", "Show what a session has changed."),
        "tui": ("tui", "Show sessions, quota, handoffs and approvals on one screen."),
        "open": ("open", "Open the daemon's page in your browser."),
    },
    "Answer and steer": {
        "approvals": ("approvals", "List what waits for your approval."),
        "approve": ("approvals", "Allow a request."),
        "deny": ("approvals", "Refuse a request; the agent carries on without it."),
        "reply": ("control", "Answer the agent's question."),
        "pause": ("control", "Pause the agent at its next event."),
        "resume": ("control", "Let a paused agent continue."),
        "handoff": ("control", "Hand the work to the next agent now."),
        "stop": ("control", "Stop a session cleanly, with a snapshot."),
    },
    "Results": {
        "take": ("result", "Take a session's work as one commit on your branch."),
        "pr": ("pr", "Push a session's work as one commit and open a pull request."),
        "discard": ("result", "Delete a session's worktree and branch."),
        "clean": ("result", "Discard every ended session whose work you have taken."),
        "history": ("history", "Show the audit timeline and the snapshots."),
        "rewind": ("history", "Create a branch at a snapshot; nothing else moves."),
    },
    "Agents and quota": {
        "providers": ("providers", "List agents: installed, logged in, under which account."),
        "install": ("providers", "Install an agent with its maker's own command."),
        "account": ("account", "Manage the agents' logins: list, add, switch, log in, remove."),
        "key": ("key", "Manage API keys for agents that use one."),
        "quota": ("quota", "Show what every account has left and when it runs out."),
        "usage": ("usage", "Show tokens used on this machine, by agent and model."),
        "cost": ("cost", "Show what this project's sessions have cost."),
        "detect": ("detect", "Find AI coding agents on this machine."),
        "adopt": ("detect", "Continue the work of an agent that hub did not start."),
    },
    "More": {
        "pipeline": ("pipeline", "Run several tasks that build on each other."),
        "graph": ("graph", "Search the code, and what agents did to it."),
        "mcp": ("mcp", "Serve hub's tools to other agents and editors (MCP)."),
        "acp": ("acp", "Use hub as an agent in your editor (ACP)."),
        "audit": ("audit", "Check the tamper-evident audit log."),
        "eval": ("eval", "Measure how much of recorded sessions a handoff keeps."),
    },
    "hub itself": {
        "daemon": ("daemon", "Run the project's daemon until stopped."),
        "service": ("service", "Run the daemon as a service that starts when you log in."),
        "config": ("config", "Show and change settings."),
        "completion": ("completion", "Print or install shell completion."),
        "help": ("help", "Show help for a command or a topic."),
        "version": ("help", "Show hub's version and what it runs on."),
    },
}
"""What is listed together: name -> module and one line of help. The function has the command's name; `_` behind it where
Python has one like it."""
COMMANDS = {name: found for section in SECTIONS.values() for name, found in section.items()}


_CLICKS_LEAST, _LEAST = 52, 20


class LazyGroup(Group):
    """Imports a command's module when it is used."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """For help within a narrow terminal too; click's own takes none at its word that has less than 52 columns."""
        if (wide := shutil.get_terminal_size().columns) < _CLICKS_LEAST:
            extra.setdefault("terminal_width", max(wide - 2, _LEAST))
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Every command, in the order of a session."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's
        """The command, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"hub.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_" if cmd_name in ("help", "open") else cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing one; before them their group's options."""
        options = click.Command.shell_complete(self, ctx, incomplete)
        begun = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return options + begun

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderLeftError from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's
        """The list for --help by section, without importing anything; its lines stand below each other."""
        for title in SECTIONS:
            write_section(formatter, title)
        with formatter.section("Topics"):
            formatter.write_text("hub help environment, exit-codes, errors, or an error's code")


def write_section(formatter: click.HelpFormatter, title: str) -> None:
    """The commands of a section, each with its line; those of all sections stand below each other."""
    wide = max(map(len, COMMANDS))
    with formatter.section(title):
        formatter.write_dl([(name.ljust(wide), line) for name, (_, line) in SECTIONS[title].items()])


@click.group(
    cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="hub %(version)s")
@click.option(
    "--project",
    "-C",
    default=None,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The project; default: the one around this folder.",
)
@click.option("--port", default=None, type=click.IntRange(0, 65535), help="The daemon's port.")
@click.pass_context
def cli(ctx: click.Context, project: str | None, port: int | None) -> None:
    """Run AI coding agents, see the quota wall coming, and hand the work over with nothing lost.

    To see it: hub demo

    Example: hub run --verify "make test" "Add --json to the list command"
    """
    ctx.obj = {"project": project or "", "port": port}
    ctx.color = wanted_colour(os.environ)
    if ctx.invoked_subcommand is None:
        from hub.cli.bare import told  # a command by its name pays nothing for it

        click.echo(told(ctx, lambda formatter: write_section(formatter, "Begin")))


def wanted_colour(environ: Mapping[str, str]) -> bool | None:
    """Whether the user wants colours; None = where a terminal shows them."""
    if environ.get("NO_COLOR") or environ.get("CLICOLOR") == "0":
        return False
    if environ.get("FORCE_COLOR") or environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return None if supports_ansi(environ) else False


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit status. Nothing gets past it but the interpreter's own end."""
    try:
        result: object = cli.main(arguments, prog_name="hub", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the edge: whatever happens is told, never shown raw
        return ended_by(error, as_json="--json" in arguments)
    except BaseExceptionGroup as error:
        return ended_by(error, as_json="--json" in arguments)
    return result if isinstance(result, int) else 0
