"""What a daemon's supervision tree tells the terminal: failures and restarts, nothing of a normal life.

Owns: which supervision events a user sees, and how.
Must not: fail; it is called inside the tree's run loop.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from hub.cli.ending import debugging

_ALWAYS = frozenset({"restarting", "stuck", "cleanup_failed", "intensity"})


def report(event: Any) -> None:
    """One line on standard error for what went wrong in the tree; with HUB_DEBUG=1 all of it, with tracebacks.

    A first start that fails is told by its error, to whoever asked for it.
    """
    error = getattr(event.exit, "error", None)
    kind = str(event.kind.value)
    untold = event.generation > 1 if kind == "start_failed" else kind in _ALWAYS
    if not debugging() and not untold and (kind != "exited" or error is None):
        return
    what = event.exit.reason if event.exit is not None else event.detail
    delay = f" in {event.delay:.1f} s" if event.delay else ""
    words = " ".join(f"{event.path} {kind.replace('_', ' ')}{delay} {what}".split())
    click.echo(click.style(f"hub: {words}", fg="red" if error is not None else "yellow"), err=True)
    if error is not None and debugging():
        import traceback

        traceback.print_exception(error, file=sys.stderr)
