"""`hub diff`: what the session has changed.

Owns: the way a diff is shown.
Must not: run git itself.
"""

from __future__ import annotations

import click

from hub.api.history import Diff
from hub.cli.context import session_argument, show, which, with_json
from hub.cli.local.records import Records

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@session_argument
@click.option("--stat", is_flag=True, help="Show only the summary.")
@with_json
def diff(ctx: click.Context, *, session: str, stat: bool, as_json: bool) -> None:
    """Show what a session (the active one, else the newest) has changed against the main branch. Needs no daemon.

    Example: hub diff --stat
    """
    answer = Records(ctx, timeout=60).read(Diff, "/api/session/diff", which(session))
    show(answer, as_json=as_json, text=lambda body: summary(body) if stat else full(body))


def summary(body: Diff) -> str:
    """One line a file."""
    return body.summary.rstrip() or "nothing changed"


def full(body: Diff) -> str:
    """The summary and the coloured diff."""
    return f"{summary(body)}\n\n{coloured(body.diff)}".rstrip()


def coloured(text: str) -> str:
    """Added lines green, removed ones red; click takes colours out again where they do not belong."""
    return "\n".join(
        click.style(line, fg=_COLOURS[line[0]]) if line[:1] in _COLOURS else line
        for line in text.splitlines()
    )
