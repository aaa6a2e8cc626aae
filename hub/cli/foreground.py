"""A command of an agent's maker, run in the user's own terminal.

Owns: how it is shown and run.
Must not: choose the command.
"""

from __future__ import annotations

import os
import subprocess
import sys

import click

from hub.domain.terminal import TerminalCommand


def run_here(command: TerminalCommand, *, as_json: bool) -> int:
    """Show the command, run it to its end, and answer its exit status. With `--json` stdout stays the document's."""
    click.echo(f"$ {command.text()}", err=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("HUB_")}
    done = subprocess.run(
        list(command.argv),
        env={**env, **command.env},
        stdout=sys.stderr if as_json else None,
        check=False,
    )
    return done.returncode
