"""`hub init`: a commented `hub.toml`, with the commands that the project's own files name.

Owns: the text of a first configuration, and the question whether what was found is right.
Must not: overwrite one, run a command that it proposes, or commit.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from hub.api.tables import parse_toml
from hub.cli.context import project_dir, with_json
from hub.cli.trusting import in_session, on_terminal
from hub.domain.proposal import NAMES, READ, Proposal, propose
from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors, read_bounded
from hub.io.project.hub_dir import insist_usable
from hub.io.project.places import Places, find_project
from hub.io.project.trust import Gate
from hub.providers.registry import names

_LIMIT = 1 << 20
_TEXT = """\
# hub: who works on this project, and when the work changes hands.
# hub keeps your comments when it writes here.

[session]
# Providers in order of priority. Left out: every enabled and installed one.
# chain = [{chain}]
# Fraction of the quota used at which the work is handed over before the wall.
threshold = 0.9
maxHandoffs = 5
# At a usage limit: "handoff", "wait" or "stop".
onLimit = "handoff"
# Commands that must pass before a task counts as done. An agent's word is never enough.
{verify}
{worktree}
# [providers.claude]
# model = ""
# baseUrl = ""

# Another login of the same agent, tried before another provider: hub account add claude work
"""


_WORKTREE = """
# What a new worktree is given before an agent works in it: a checkout has no node_modules and no .env.
{table}
{setup}
{copy}
"""


@click.command()
@click.option("--yes", is_flag=True, help="Write what was found without asking.")
@with_json
def init(ctx: click.Context, *, yes: bool, as_json: bool) -> None:
    """Write a commented hub.toml, and make .hub/ invisible to git.

    It proposes commands that check and set up your project from what it finds: package.json, pyproject.toml, Makefile,
    Cargo.toml, go.mod, lock files, .env. What you decline is written as comments.

    Example: hub init
    """
    places = Places(find_project(project_dir(ctx)))
    insist_usable(places.root)
    places.ensure()
    if os.path.lexists(places.config):  # a link that leads nowhere too: it would be written where it leads
        raise HubError(Code.USAGE, f"{places.config} already exists.", hint="Change it: hub config edit")
    agents = [name for name in names() if not name.startswith("demo")]
    found = [name for name in agents if shutil.which(name)]
    proposal = propose(_look(places.root))
    taken = not proposal.empty and (yes or _agreed(proposal, as_json=as_json))
    text = _TEXT.format(
        chain=", ".join(f'"{name}"' for name in found or agents),
        verify=_line("verify", proposal.verify, on=taken or not proposal.verify),
        worktree=_worktree(proposal, on=taken),
    )
    _write(places.config, text)
    if taken and not yes and not in_session():
        # He was asked here, and need not be asked again; whatever else there is has its own question.
        Gate.of(places.root, os.environ).follow({}, parse_toml(text, str(places.config)))
    told = {"path": str(places.config), "agents": found, "taken": taken, **attrs.asdict(proposal)}
    click.echo(json.dumps(told) if as_json else _told(places.config, proposal, taken=taken))


def _told(path: Path, proposal: Proposal, *, taken: bool) -> str:
    lines = [f"wrote {path}"]
    if not proposal.empty and not taken:
        lines.append("what was found is in it as comments; take the # from what is right: hub config edit")
    return "\n".join([*lines, 'next: hub doctor, then: hub run "task"'])


def _agreed(proposal: Proposal, *, as_json: bool) -> bool:
    """Whether the user wants what was found; nobody is asked where a program reads along."""
    if as_json or not on_terminal():
        return False
    click.echo(f"found {', '.join(proposal.because)}:", err=True)
    rows = (
        ("check the work with", proposal.verify),
        ("set up each worktree with", proposal.setup),
        ("copy into each worktree", proposal.copy),
    )
    for words, commands in rows:
        for command in commands:
            click.echo(f"  {words}: {command}", err=True)
    return click.confirm("Write this into hub.toml?", default=True, err=True)


def _look(root: Path) -> dict[str, str]:
    """What the project's files say; of most only that they are there."""
    found: dict[str, str] = {}
    for name in NAMES:
        path = root / name
        if path.exists():
            try:
                found[name] = read_bounded(path, _LIMIT).decode("utf-8", "replace") if name in READ else ""
            except (OSError, HubError):
                found[name] = ""
    return found


def _line(key: str, values: Sequence[str], *, on: bool) -> str:
    """A list as TOML has it; JSON's strings are TOML's."""
    return f"{'' if on else '# '}{key} = [{', '.join(json.dumps(value) for value in values)}]"


def _worktree(proposal: Proposal, *, on: bool) -> str:
    both = bool(proposal.setup or proposal.copy)
    return _WORKTREE.format(
        table="[worktree]" if on and both else "# [worktree]",
        setup=_line("setup", proposal.setup or ("npm ci",), on=on and bool(proposal.setup)),
        copy=_line("copy", proposal.copy or (".env",), on=on and bool(proposal.copy)),
    )


def _write(path: Path, text: str) -> None:
    """All of it or nothing, with the mode that the user's other files have."""
    with coded_errors(path), path.open("x") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise
