"""`hub mcp`: the tool server on standard input and output.

Owns: that the process's standard output is the protocol's alone, and which project is meant.
Must not: know a tool, or import the protocol's SDK before the wires are claimed.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click

from hub.cli.context import client

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


@click.group(invoke_without_command=True)
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """The tools of hub for any agent or editor that speaks the Model Context Protocol.

    Without a command: serve them on standard input and output, for the project around this folder.

    Example: hub mcp install claude
    """
    if ctx.invoked_subcommand is None:
        serve(ctx)


def serve(ctx: click.Context) -> None:
    """Serve one client until it closes its side."""
    from hub.mcp.wires import Wires

    wires = Wires.claim()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing to put in order: Ctrl-C ends it at once
    from hub.mcp.stdio import run

    run(wires, lambda: _server(ctx))


def _server(ctx: click.Context) -> Server[Any]:
    from hub.domain.text import clean
    from hub.mcp.calling import Caller
    from hub.mcp.server import server

    return server(Caller(lambda: client(ctx), clean))
