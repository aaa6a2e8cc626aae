"""`hub history` and `hub rewind`: the time machine.

Owns: how the timeline and the snapshots are shown.
Must not: move anything; a rewind is an order for a new branch.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import partial

import click

from hub.api.history import Commit, CommitDiff, HistoryEntry, Rewind, Rewound
from hub.api.observability import AuditHead
from hub.api.sessions import Sessions
from hub.cli.commands.diff import coloured
from hub.cli.commands.result import order
from hub.cli.commands.sessions import short
from hub.cli.context import show, with_json
from hub.cli.local.records import Records
from hub.cli.terminal.screen import for_people
from hub.cli.terminal.table import instant, name_zone
from hub.cli.terminal.timeline import pictures as pictured
from hub.cli.terminal.width import columns, hung
from hub.domain.standing import occasion
from hub.domain.text.safe import clip
from hub.errors import HubError

_ALL = 10_000
_WIDTH = 160
_HANG = 8
"""Where a line goes on that is wider than the terminal."""
_SHA = re.compile(r"[0-9a-f]{7,64}")


def _named(_: click.Context, __: click.Parameter, sha: str) -> str:
    """A commit by its hash, as `hub history --commits` shows it; "" = none was named.

    Raises:
        click.BadParameter: A branch, `HEAD` or anything else: the daemon takes hashes only.
    """
    if sha and not _SHA.fullmatch(sha):
        raise click.BadParameter(f"{sha!r} is not 7 to 64 hex digits of a commit; see: hub history --commits")
    return sha


@click.command()
@click.option("--commits", is_flag=True, help="Show the snapshots instead of the timeline.")
@click.option(
    "--handoffs", "pictures", is_flag=True, help="Show each handoff, state by state, with its times."
)
@click.option(
    "--diff", "sha", default="", metavar="SHA", callback=_named, help="Show what one snapshot changed."
)
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Show this many, the newest first.",
)
@with_json
def history(ctx: click.Context, *, commits: bool, pictures: bool, sha: str, limit: int, as_json: bool) -> int:
    """Show the audit timeline, the handoffs, the snapshots, or one snapshot's diff. Needs no daemon.

    If the log was tampered with, it is shown up to the bad record, and the exit status is 1.

    Example: hub history --handoffs
    """
    daemon = Records(ctx, timeout=60)
    if sha:
        answer = daemon.read(CommitDiff, "/api/history/diff", {"sha": sha})
        show(answer, as_json=as_json, text=lambda body: coloured(body.diff))
    elif commits:
        snapshots = daemon.read(list[Commit], "/api/history/commits")[:limit]
        sessions = [] if as_json else daemon.read(Sessions, "/api/sessions").sessions
        titles = {one.session_id: one.title for one in sessions}
        show(snapshots, as_json=as_json, text=partial(listed, titles=titles))
        _zone(as_json=as_json)
    elif pictures:
        rows = daemon.read(list[HistoryEntry], "/api/history", {"limit": _ALL, "event": "handoff"})
        show(rows, as_json=as_json, text=_handoffs)
        return _whole(daemon)
    else:
        rows = daemon.read(list[HistoryEntry], "/api/history", {"limit": limit})
        show(rows, as_json=as_json, text=_timeline)
        _zone(as_json=as_json)
        return _whole(daemon)
    return 0


def _zone(*, as_json: bool) -> None:
    if not as_json:
        name_zone()


def _whole(daemon: Records) -> int:
    """Say that there was more, where the log was tampered with: what is shown then ends before the bad record."""
    try:
        daemon.read(AuditHead, "/api/audit/head")
    except HubError as error:
        click.echo(f"hub: {error.detail} Nothing from there on is shown.\n     {error.hint}", err=True)
        return error.exit_status
    return 0


def _timeline(rows: list[HistoryEntry]) -> str:
    """One line a record, whatever an agent said: number, instant to the second, who, what."""
    what = max((len(row.event) for row in rows), default=0)
    who = max((len(row.provider) for row in rows), default=0)
    lines = (
        f"{row.seq:>6}  {instant(row.ts)}  {row.event:<{what}}  {row.provider:<{who}}  {_clipped(row.summary)}"
        for row in rows
    )
    width = columns(sys.stdout)
    return "\n".join(hung(line.rstrip(), width, _HANG) for line in lines) or "nothing yet"


def _clipped(text: str) -> str:
    return clip(for_people(" ".join(text.split())), _WIDTH)


def _handoffs(rows: list[HistoryEntry]) -> str:
    return "\n".join(pictured(rows, columns(sys.stdout))).strip() or "no handoff yet"


def listed(rows: list[Commit], titles: Mapping[str, str]) -> str:
    """A line for each snapshot: when and on which occasion it was made, and of which session, whose task `titles` has."""
    told = [occasion(one.handoff_id) if one.handoff_id else one.subject for one in rows]
    wide = max(map(len, told), default=0)
    lines = []
    for one, what in zip(rows, told, strict=True):
        of = f"{short(one.session_id, [*titles])}  {_clipped(titles.get(one.session_id, ''))}"
        lines.append(f"{one.short}  {instant(one.when)}  {what:<{wide}}  {of}")
    width = columns(sys.stdout)
    return "\n".join(hung(line.rstrip(), width, _HANG) for line in lines) or "no snapshot yet"


@click.command()
@click.argument("sha", callback=_named)
@with_json
def rewind(ctx: click.Context, sha: str, *, as_json: bool) -> None:
    """Create a branch at a snapshot; nothing else moves. Needs no daemon.

    Example: hub rewind 1a2b3c4
    """
    answer = order(ctx, Rewound, "/api/history/rewind", Rewind(sha=sha))
    show(
        answer,
        as_json=as_json,
        text=lambda body: f"{body.branch} - look at it: git switch {body.branch}",
    )
