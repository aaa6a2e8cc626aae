"""`hub tui`: the daemon on a terminal.

Owns: the command's options, and what is found out before the screen is taken: the terminal, its colours and letters.
Must not: draw.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click

from hub.api.sessions import Sessions
from hub.cli.context import client, project_dir, show, with_json
from hub.client.place import root_of, told_by
from hub.client.quick import Api, find
from hub.errors import Code, HubError


@click.command()
@click.option("--ascii", "plain", is_flag=True, help="Draw with plain ASCII only.")
@click.option("--light", is_flag=True, help="Use dark text on a light background.")
@with_json
def tui(ctx: click.Context, *, plain: bool, light: bool, as_json: bool) -> None:
    """Show sessions, quota, handoffs and approvals on one screen; ? lists the keys. Leaving it stops nothing.

    Example: hub tui
    """
    if as_json:  # what the board would show
        show(client(ctx).read(Sessions, "/api/sessions"), as_json=True, text=str)
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise HubError(
            Code.USAGE,
            "hub tui needs a terminal; it draws on standard error.",
            hint="Without one: hub status, hub ls, hub logs -f",
        )
    project, port = project_dir(ctx), ctx.obj["port"] or None
    root = root_of(project)

    def daemon() -> Api:
        return find(port, project)

    daemon()  # what is wrong with HUB_PORT is said before the screen is taken
    if ctx.color is False:
        os.environ["NO_COLOR"] = "1"

    def begin(place: Path, port: int | None) -> None:
        from hub.cli.local.background import daemon as background

        background(place, port)

    from hub.tui.app import HubApp
    from hub.tui.look import ASCII, UNICODE
    from hub.tui.projects import Project

    def others() -> list[Project]:
        from hub.io.project.daemons import projects

        roots = [path for path in projects() if told_by(path).port is not None]
        return [
            Project(path.name, str(path), partial(find, None, path, {}), partial(begin, path, None))
            for path in roots
        ]

    app = HubApp(
        daemon,
        project=(root or project).name,
        look=ASCII if plain or not draws_unicode(os.environ) else UNICODE,
        theme="textual-light" if light else "textual-dark",
        start=partial(begin, project, port) if root is not None else None,
        root=str(root or ""),
        others=others,
    )
    app.run()


def draws_unicode(environ: Mapping[str, str]) -> bool:
    """Whether the terminal's letters are UTF-8, as its user has set them; the console of Linux has few of them."""
    named = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    try:
        encoding = codecs.lookup(named.partition(".")[2].partition("@")[0] or "ascii").name
    except LookupError:
        encoding = ""
    return encoding == "utf-8" and environ.get("TERM") not in ("linux", "dumb")
