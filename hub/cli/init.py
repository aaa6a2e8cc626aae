"""`hub init`: a commented `hub.toml`.

Owns: the text of a first configuration.
Must not: overwrite one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click

from hub.cli.context import json_option, project_dir
from hub.errors import Code, HubError
from hub.io.atomic import coded_errors
from hub.io.hub_dir import insist_usable
from hub.io.places import Places, find_project
from hub.providers.registry import names

_TEXT = """\
# hub: who works on this project, and when the work changes hands.
# Every value below is the default; hub keeps your comments when it writes here.

[session]
# Providers in order of priority. Left out: every enabled and installed one.
# chain = [{chain}]
# Fraction of the quota used at which the work is handed over before the wall.
threshold = 0.9
maxHandoffs = 5
# At a usage limit: "handoff", "wait" or "stop".
onLimit = "handoff"
# Commands that must pass before a task counts as done. An agent's word is never enough.
verify = []

# [providers.claude]
# model = ""
# baseUrl = ""

# Another login of the same agent, tried before another provider: hub account add claude work
"""


@click.command()
@json_option
@click.pass_context
def init(ctx: click.Context, *, as_json: bool) -> None:
    """Write a commented hub.toml, and make .hub/ invisible to git.

    Example: hub init
    """
    places = Places(find_project(project_dir(ctx)))
    insist_usable(places.root)
    places.ensure()
    if places.config.exists():
        raise HubError(Code.USAGE, f"{places.config} is there already.", hint="Look at it: hub doctor")
    agents = [name for name in names() if not name.startswith("demo")]
    found = [name for name in agents if shutil.which(name)]
    _write(places.config, _TEXT.format(chain=", ".join(f'"{name}"' for name in found or agents)))
    told = {"path": str(places.config), "agents": found}
    click.echo(
        json.dumps(told) if as_json else f'wrote {places.config}\nnext: hub doctor, then: hub run "task"'
    )


def _write(path: Path, text: str) -> None:
    """All of it or nothing, with the mode that the user's other files have."""
    with coded_errors(path):
        try:
            path.write_text(text)
        except OSError:
            path.unlink(missing_ok=True)
            raise
