"""`hub key`: the agents' keys in `.hub/.env`.

Owns: how a key gets in without being seen.
Must not: take a key as an argument (every process of the machine could read it), or show one.
"""

from __future__ import annotations

import sys

import click

from hub.api.providers import KeyOrder, KeySet
from hub.cli import completing
from hub.cli.base import Group
from hub.cli.context import show, with_json
from hub.cli.terminal.table import table
from hub.errors import Code, HubError

_LIMIT = 65_536


@click.group(cls=Group)
def key() -> None:
    """Manage API keys for agents that use one.

    Example: hub key set claude < key.txt
    """


@key.command(name="set")
@click.argument("name", shell_complete=completing.providers)
@with_json
def set_(ctx: click.Context, *, name: str, as_json: bool) -> None:
    """Store a key for one agent, read from stdin or typed unseen. Needs no daemon.

    NAME: an agent, a variable such as OPENAI_API_KEY (the first agent's that takes it), or AGENT.VARIABLE.

    Example: hub key set claude < key.txt
    """
    value = _asked(name) if sys.stdin.isatty() else sys.stdin.read(_LIMIT)
    if not value.strip():
        raise HubError(Code.USAGE, "No key was given.", hint=f"Give it on stdin: hub key set {name} < file")
    _put(ctx, name, value.strip(), as_json=as_json)


@key.command()
@click.argument("name", shell_complete=completing.providers)
@with_json
def remove(ctx: click.Context, *, name: str, as_json: bool) -> None:
    """Take a key out of .hub/.env. Needs no daemon.

    Example: hub key remove OPENAI_API_KEY
    """
    _put(ctx, name, "", as_json=as_json)


@key.command(name="list")
@with_json
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List which agent gets which key, never a value. Needs no daemon.

    Example: hub key list
    """
    from hub.cli.local.offline import described

    found = [
        {"provider": entry.name, "name": name}
        for entry in described(ctx, versions=False)
        for name in entry.auth.keys
    ]
    show(found, as_json=as_json, text=_listed)


def _listed(rows: list[dict[str, str]]) -> str:
    if not rows:
        return "no key is kept - give one: hub key set AGENT"
    lines = table(("AGENT", "KEY"), [(row["provider"], row["name"]) for row in rows])
    return f"{lines}\nEach key is its agent's alone. Give one to another agent: hub key set AGENT.VARIABLE"


def _asked(name: str) -> str:
    value: str = click.prompt(f"Key for {name}", hide_input=True, err=True)
    return value


def _put(ctx: click.Context, name: str, value: str, *, as_json: bool) -> None:
    from hub.cli.local.offline import ordered
    from hub.messages.settings import SetKey

    done = ordered(
        ctx,
        KeySet,
        "/api/providers/api-key",
        KeyOrder(name=name, value=value),
        lambda here: here.keys.put(SetKey(name, value)),
    )
    show(done, as_json=as_json, text=_words)


def _words(done: KeySet) -> str:
    if done.set:
        return f"{done.name} is kept in .hub/.env for {done.provider} alone; its next run has it"
    return f"{done.name} is no longer in .hub/.env"
