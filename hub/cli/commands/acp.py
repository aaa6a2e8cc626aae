"""`hub acp`: hub as one agent of the Agent Client Protocol, on standard input and output.

Owns: that the process's standard output is the protocol's alone, which project is meant, and the words about editors.
Must not: know a method, or import anything that might print before the wires are claimed.
Tests: tests/hub/cli/test_editors.py, tests/hub/acp/test_agent.py
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hub.cli.base import Group
from hub.cli.clients import Client, command_of
from hub.cli.clients import install as tell
from hub.cli.clients import uninstall as forget
from hub.cli.context import show, with_json
from hub.cli.editors import EDITORS, ByHand
from hub.client.place import root_of
from hub.client.quick import find
from hub.errors import Code, HubError

if TYPE_CHECKING:
    from hub.acp.daemon import ProjectDaemon

_BREATH = 0.2


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def acp(ctx: click.Context) -> None:
    """Use hub as an agent in your editor: Zed, JetBrains, Neovim, Toad, or any that speaks the Agent Client Protocol.

    Without a command: serve one editor on standard input and output. Editors start this themselves.

    Example: hub acp install zed
    """
    if ctx.invoked_subcommand is None:
        serve(ctx)


def serve(ctx: click.Context) -> None:
    """Serve one editor until it closes its side. Sessions go on in the daemon."""
    from hub.wire.wires import Wires

    wires = Wires.claim()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing to put in order: Ctrl-C ends it at once
    from hub.acp.agent import run

    project = Path(ctx.obj["project"]).absolute() if ctx.obj["project"] else None
    port = ctx.obj["port"] or None
    run(wires, lambda folder: daemon_of(folder, project, port))
    os._exit(0)  # no need to take the interpreter down in order: on a busy machine that took a second


def daemon_of(folder: Path, project: Path | None, port: int | None) -> ProjectDaemon:
    """The daemon of the project around an editor's folder.

    Raises:
        HubError: `not_a_repository`, or `outside_project` where the command is for another project.
    """
    from hub.acp.daemon import ProjectDaemon

    root = root_of(folder)
    if root is None:
        hint = f"Open a folder of a git repository, or make one: git -C {folder} init"
        raise HubError(Code.NOT_A_REPOSITORY, f"{folder} is in no git repository.", hint=hint)
    if project is not None and root != root_of(project):
        detail = f"{folder} is not in {project}, which this agent was started for."
        hint = "Open a folder of that project, or start it without --project: hub acp"
        raise HubError(Code.OUTSIDE_PROJECT, detail, hint=hint)

    def begin() -> None:
        from hub.cli.beforehand import insist_on_commit
        from hub.cli.trusting import insist_on_trust

        insist_on_trust(root, as_json=True)
        insist_on_commit(root)
        _started(root, port)

    return ProjectDaemon(root, lambda: find(port, root), begin)


def _started(root: Path, port: int | None) -> None:
    """One in the background; where somebody else is just starting one, that one."""
    from hub.cli.local import background

    late = time.monotonic() + background.PATIENCE
    while True:
        try:
            background.daemon(root, port)
        except HubError as error:
            if error.code is not Code.PROJECT_LOCKED or time.monotonic() > late:
                raise
            time.sleep(_BREATH)
        else:
            return


@acp.command()
@click.argument("editor_name", metavar="EDITOR", type=click.Choice([*EDITORS]))
@click.option("--print", "only_print", is_flag=True, help="Only show what would be written, and where.")
@with_json
def install(ctx: click.Context, *, editor_name: str, only_print: bool, as_json: bool) -> None:
    """Register hub with an EDITOR (zed, jetbrains), or show what to do by hand (neovim, toad).

    It works in whatever project the editor has open; with --project before the command, only in that one.

    Example: hub acp install zed
    """
    editor, found = EDITORS[editor_name], shutil.which("hub")
    # By its whole path: an editor that was started from a desktop has another PATH than a shell.
    command = command_of(str(Path(found).absolute()) if found else "", ctx.obj["project"], "acp")
    if written := not only_print and isinstance(editor, Client):
        tell(editor, command)
    told = {
        "editor": editor_name,
        "installed": written,
        "command": command,
        "file": str(editor.file),
        "snippet": editor.snippet(command),
    }
    show(told, as_json=as_json, text=_installed if written else _snippet)


@acp.command()
@click.argument("editor_name", metavar="EDITOR", type=click.Choice([*EDITORS]))
@with_json
def uninstall(_: click.Context, *, editor_name: str, as_json: bool) -> None:
    """Remove hub from an EDITOR's configuration.

    Example: hub acp uninstall zed
    """
    editor = EDITORS[editor_name]
    if isinstance(editor, ByHand):
        hint = f"Take it out by hand: {editor.file}"
        raise HubError(Code.USAGE, "hub has written nothing there.", hint=hint)
    forget(editor)
    told = {"editor": editor_name, "installed": False, "file": str(editor.file)}
    show(told, as_json=as_json, text=lambda item: f"{item['editor']} no longer has hub, in {item['file']}")


def _snippet(told: dict[str, object]) -> str:
    return f"{told['file']}:\n{told['snippet']}"


def _installed(told: dict[str, object]) -> str:
    return f"{told['editor']} has hub as an agent, in {told['file']}; start a thread with it there"
