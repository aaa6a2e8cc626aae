"""`hub` without a command: how it stands here, and what one begins with; on one screen.

Owns: what of both is said.
Must not: list every command (`hub --help` does), or fail where there is no project.
"""

from __future__ import annotations

from collections.abc import Callable

import click

from hub.cli.commands.sessions import here, listed
from hub.cli.context import project_dir
from hub.client.place import root_of
from hub.domain.standing import ENDED

_ENDED = 5
"""Sessions that have ended, of which the newest are listed."""


def told(ctx: click.Context, write_begin: Callable[[click.HelpFormatter], None]) -> str:
    """In a project with sessions the newest of them, else the commands to begin with, by whoever knows all."""
    inside = root_of(project_dir(ctx)) is not None
    if inside and (rows := here(ctx).sessions):
        ended = [row.session_id for row in rows if row.session_state in ENDED][:-_ENDED]
        needed = next((row.session_id for row in rows if row.needs != "none"), "")
        return "\n".join(
            [
                listed([row for row in rows if row.session_id not in ended]),
                *([f"{len(ended)} more: hub ls"] if ended else []),
                "",
                *([f"answer:        hub attach {needed}"] if needed else []),
                'start another: hub run "task"',
                "all commands:  hub --help",
            ]
        )
    formatter = ctx.make_formatter()
    formatter.write_text((ctx.command.help or "").partition("\n")[0])
    write_begin(formatter)
    where = (
        "Nothing has run in this project yet."
        if inside
        else "This folder is in no git repository: go to one."
    )
    return f"{formatter.getvalue()}\n{where}\nAll commands: hub --help   What runs in all projects: hub ls -A"
