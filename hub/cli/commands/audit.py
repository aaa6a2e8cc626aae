"""`hub audit verify`: walk the chain and say whether it is whole.

Owns: the exit status of the verification: 0 intact, 1 broken, 2 unreadable.
Must not: repair anything.
"""

from __future__ import annotations

import os
from typing import Any

import click

from hub.cli.base import Group
from hub.cli.context import project_dir, show, with_json
from hub.domain.audit import Head, parse_anchor
from hub.domain.text.figures import counted
from hub.errors import Code, HubError
from hub.io.audit.journal import verify_file
from hub.io.project.places import Places, find_project, load_key

_UNREADABLE = 2


@click.group(cls=Group)
def audit() -> None:
    """Check the tamper-evident audit log.

    Example: hub audit verify
    """


@audit.command()
@click.option(
    "--expect", default="", metavar="SEQ:HASH", help="A head you noted elsewhere; detects a rollback."
)
@with_json
def verify(ctx: click.Context, *, expect: str, as_json: bool) -> int:
    """Check the hash chain from its first record to its anchored head.

    Exits with 0 if it is intact, 1 if it is broken, 2 if it cannot be read.

    Example: hub audit verify --expect 41:9f...
    """
    places = Places(find_project(project_dir(ctx)))
    anchor = _anchor(expect)
    try:
        verdict = verify_file(places, load_key("audit") or os.urandom(32), anchor)
    except (OSError, HubError) as error:
        coded = error if isinstance(error, HubError) else HubError(Code.AUDIT_UNREADABLE, str(error))
        told = {"ok": False, "state": "unreadable", "reason": coded.detail, "hint": coded.hint}
        people = f"unreadable\nwhy:     {coded.detail}\nnext:    {coded.hint}"
        show(told, as_json=as_json, text=lambda _: people)
        return _UNREADABLE
    body = verdict.to_json()
    show(body, as_json=as_json, text=_text)
    return 0 if verdict.ok else 1


def _anchor(expect: str) -> Head | None:
    try:
        return parse_anchor(expect) if expect else None
    except ValueError as error:
        hint = "It is the head that an earlier `hub audit verify` has shown."
        raise HubError(Code.USAGE, f"--expect: {error}.", hint=hint) from error


def _text(body: dict[str, Any]) -> str:
    """The verdict for people: what was found, how far it goes, and the head to note down for `--expect`."""
    head = body["head"]
    lines = [
        f"{body['state']}: {counted(body['records'], 'record')}",
        *([f"why:     {body['reason']}"] if body["reason"] else []),
        *([f"record:  {body['seq']}"] if body["seq"] is not None else []),
        *([f"written after the head was sealed: {body['unanchored']}"] if body["unanchored"] else []),
        *([f"head:    {head['seq']}:{head['hash']}   (for --expect)"] if head else []),
    ]
    return "\n".join(lines)
