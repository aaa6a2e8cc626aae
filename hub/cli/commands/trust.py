"""`hub trust`: what a project would run, send or open, and the user's word on it.

Owns: the options of the command, and the last word after each.
Must not: know how the question is put (`hub.cli.trusting` does).
"""

from __future__ import annotations

import os
import sys

import click

from hub.cli.context import project_dir, show, with_json
from hub.cli.trusting import ask, insist_on_user, on_terminal, shown, standing_of
from hub.errors import Code, HubError
from hub.io.project.places import find_project
from hub.io.project.trust import Gate


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Trust it without asking.")
@click.option("--revoke", is_flag=True, help="Stop trusting it.")
@click.option("--status", is_flag=True, help="Only show it.")
@with_json
def trust(ctx: click.Context, *, yes: bool, revoke: bool, status: bool, as_json: bool) -> None:
    """Show what this project would run, send or open, and trust it.

    hub asks before it first starts anything here, and again when something changes.

    Example: hub trust --status
    """
    if yes + revoke + status > 1:
        raise HubError(Code.USAGE, "--yes, --revoke and --status exclude each other.")
    if yes or revoke:
        insist_on_user()
    if revoke:
        root = find_project(project_dir(ctx))
        words = "no longer trusted" if (there := Gate.of(root, os.environ).revoke()) else "was not trusted"
        told = {"project": str(root), "revoked": there}
        show(told, as_json=as_json, text=lambda _: f"{root}: {words}")
        return
    gate, standing = standing_of(project_dir(ctx))
    if yes:
        gate.agree(standing)
        standing = standing_of(project_dir(ctx))[1]
    elif not (status or as_json or standing.trusted):
        if not on_terminal():
            click.echo("\n".join(shown(standing, sys.stderr)), err=True)
            raise HubError(
                Code.TRUST_NEEDED,
                "There is nobody to ask here: it needs a terminal.",
                hint="Say yes: hub trust --yes",
            )
        ask(gate, standing)
        click.echo("trusted; what changes is asked for again")
        return
    show(standing.told(), as_json=as_json, text=lambda _: "\n".join(shown(standing, sys.stdout)))
