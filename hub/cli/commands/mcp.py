"""`hub mcp`: the tool server on standard input and output.

Owns: that the process's standard output is the protocol's alone, which project is meant, and the words about clients.
Must not: know a tool, or import anything that might print before the wires are claimed.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import click
import trio

from hub.cli.base import Group
from hub.cli.clients import CLIENTS, command_of
from hub.cli.clients import install as tell
from hub.cli.clients import uninstall as forget
from hub.cli.context import client, project_dir, show, with_json
from hub.client.place import root_of
from hub.client.quick import Api, not_running

_in_thread = partial(trio.to_thread.run_sync, abandon_on_cancel=True)


@attrs.frozen
class Remote:
    """Asks over HTTP.

    Args:
        find: Finds the daemon, anew for each request: it may have come or moved since the last one.
    """

    find: Callable[[], Api]

    async def get(self, path: str, query: Mapping[str, Any]) -> Any:
        """The JSON of a resource."""
        return await _in_thread(lambda: self.find().get(path, query))

    async def post(self, path: str, body: Mapping[str, object]) -> Any:
        """What a POST made or changed."""
        return await _in_thread(lambda: self.find().post(path, body))


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Serve hub's tools to any agent or editor that speaks the Model Context Protocol.

    Without a command: serve them on standard input and output, for the project around this folder.

    Example: hub mcp install claude
    """
    if ctx.invoked_subcommand is None:
        serve(ctx)


def serve(ctx: click.Context) -> None:
    """Serve one client until it closes its side."""
    from hub.wire.wires import Wires

    wires = Wires.claim()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing to put in order: Ctrl-C ends it at once
    from hub.mcp.calling import ToolCaller
    from hub.mcp.stdio import run

    run(wires, ToolCaller(Remote(partial(_daemon, ctx))))


def _daemon(ctx: click.Context) -> Api:
    """The daemon. A client may start its servers anywhere; outside of all projects, too, what is missing is a daemon."""
    api = client(ctx)
    if api.absent and root_of(project_dir(ctx)) is None:
        missing = not_running(api.port, ": this folder is in no git repository.")
        missing.hint = "Start it in your project: hub daemon   And name that project: hub --project DIR mcp"
        raise missing
    return api


@mcp.command()
@click.argument("client_name", metavar="CLIENT", type=click.Choice([*CLIENTS]))
@click.option("--print", "only_print", is_flag=True, help="Only show what would be written, and where.")
@with_json
def install(ctx: click.Context, *, client_name: str, only_print: bool, as_json: bool) -> None:
    """Register the tools with a CLIENT: claude, codex, gemini, opencode, qwen or cursor.

    The server serves whatever project the client works in; with --project before the command, only that one.

    Example: hub mcp install claude
    """
    client = CLIENTS[client_name]
    command = command_of("hub" if shutil.which("hub") else "", ctx.obj["project"], "mcp")
    if not only_print:
        tell(client, command)
    told = {
        "client": client_name,
        "installed": not only_print,
        "command": command,
        "file": str(client.file),
        "snippet": client.snippet(command),
    }
    show(told, as_json=as_json, text=_snippet if only_print else _installed)


@mcp.command()
@click.argument("client_name", metavar="CLIENT", type=click.Choice([*CLIENTS]))
@with_json
def uninstall(_: click.Context, *, client_name: str, as_json: bool) -> None:
    """Remove the tools from a CLIENT's configuration.

    Example: hub mcp uninstall claude
    """
    client = CLIENTS[client_name]
    forget(client)
    told = {"client": client_name, "installed": False, "file": str(client.file)}
    show(told, as_json=as_json, text=lambda item: f"{item['client']} no longer has the tools of hub")


def _snippet(told: dict[str, object]) -> str:
    return f"{told['file']}:\n{told['snippet']}"


def _installed(told: dict[str, object]) -> str:
    return f"{told['client']} has the tools of hub, in {told['file']}; they need a daemon: hub daemon"
