"""The question whether a project is trusted: what it would do, in words, and the user's answer.

Owns: how that is shown, and where nobody can be asked.
Must not: decide what needs the user's word (`hub.domain.trust.settings` does), or start anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from hub.cli.context import hiding
from hub.cli.terminal.width import columns, hung
from hub.domain.text.safe import clean
from hub.domain.trust.settings import Does, Item
from hub.errors import Code, HubError
from hub.io.config.file import project_tables
from hub.io.project.places import Places, find_project
from hub.io.project.trust import Gate, TrustStanding

_GROUPS = (
    (Does.RUNS, "It runs programs, with your rights:"),
    (Does.SENDS, "It sends your work, or a key of yours, to:"),
    (Does.OPENS, "It takes down a guard, or uses a login:"),
)
_MARKS = {"": "  ", "new": "+ ", "changed": "~ "}
_COLOURS = {"new": "green", "changed": "yellow"}
_MOST = 40
"""Lines of a group; the digest covers all."""


def standing_of(project: Path) -> tuple[Gate, TrustStanding]:
    """The gate of the project around a folder, and what it would do.

    Raises:
        HubError: `not_a_repository`, `config_invalid`...
    """
    places = Places(find_project(project))
    gate = Gate.of(places.root, os.environ)
    return gate, gate.standing(project_tables(places.config, environ=os.environ))


def insist_on_trust(project: Path, *, once: bool = False, as_json: bool = False) -> Gate:
    """The gate of a project that its user trusts; asks him on a terminal.

    Args:
        project: A folder of the project.
        once: Whether he has said yes already, for this time.
        as_json: Whether a program reads along, which cannot be asked.

    Raises:
        HubError: `trust_needed`; he said no, or nobody is there to say it.
    """
    gate, standing = standing_of(project)
    if standing.trusted:
        return gate
    if once and not in_session():
        gate.agree(standing, once=True)
    elif as_json or not on_terminal():
        standing.insist()
    else:
        ask(gate, standing)
    return gate


def in_session() -> bool:
    """Whether an agent of hub's, or what it started, is asking: it cannot speak for its user."""
    return bool(os.environ.get("HUB_RUN_ID"))


def insist_on_user() -> None:
    """Refuse an agent of hub's the user's own word.

    Raises:
        HubError: `usage`.
    """
    if in_session():
        raise HubError(
            Code.USAGE, "An agent cannot speak for its user.", hint="Type it in a shell of your own."
        )


def on_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(gate: Gate, standing: TrustStanding) -> None:
    """Show what the project would do, and keep the answer.

    Raises:
        HubError: `trust_needed`; he said no.
    """
    click.echo("\n".join(shown(standing, sys.stderr)), err=True)
    click.echo("\nSay yes only if you know who wrote this.", err=True)
    if not click.confirm("Do you trust it?", default=False, err=True):
        raise HubError(Code.TRUST_NEEDED, "You did not say yes, and nothing was started.")
    gate.agree(standing)


def shown(standing: TrustStanding, stream: TextIO) -> Iterator[str]:
    """What the project would do, in the words of the question; a line that is new begins with +, a changed one with ~."""
    hide, width = hiding().text, columns(stream)
    head = {
        "not_needed": "needs no trust: it names nothing to run, send or open.",
        "trusted": "is trusted. This is what it may do:",
        "untrusted": "would do this as soon as hub works in it:",
        "changed": "has changed since you trusted it (+ new, ~ changed, - gone):",
    }
    yield click.style(f"{clean(str(standing.root))} {head[standing.state]}", bold=True)
    for does, title in _GROUPS:
        found = [item for item in standing.items if item.does is does]
        if not found:
            continue
        yield ""
        yield title
        # What is new stands where it is seen, however much there is.
        found.sort(key=lambda item: standing.mark(item) == "")
        for item in found[:_MOST]:
            yield hung(_line(standing, item, hide(clean(item.text))), width, 6)
        if len(found) > _MOST:
            yield f"  and {len(found) - _MOST} more: hub trust --json"
    if standing.gone:
        yield ""
        yield from (f"- no longer there: {clean(key).removeprefix('file:')}" for key in standing.gone)


def _line(standing: TrustStanding, item: Item, text: str) -> str:
    mark = standing.mark(item)
    place = "" if item.key.startswith("file:") else f"   [{clean(item.key)}]"
    line = f"{_MARKS[mark]}{text}{place}"
    return click.style(line, fg=_COLOURS[mark]) if mark else line
