"""`hub ls`: every session of the project, or of all projects.

Owns: their order for people (who needs somebody, who works, who waits for a reset, who is done), and which projects are
asked.
Must not: compute anything the daemons have not said.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import attrs
import click

from hub.api.meta import UNSET, Unset
from hub.api.quota import Entry
from hub.api.sessions import Session, Sessions
from hub.cli.context import client, document, show, with_json
from hub.cli.ending import rest
from hub.cli.local.records import UNATTENDED, Records
from hub.cli.terminal.clock import Clock
from hub.cli.terminal.table import table
from hub.cli.terminal.width import columns
from hub.client.quick import Api, find
from hub.domain.quota.spoken import told
from hub.domain.standing import ENDED, GROUPS, WAITS
from hub.domain.text.figures import agent_name, span
from hub.domain.text.safe import clip
from hub.errors import HubError

T = TypeVar("T")
_HEADINGS = ("SESSION", "PROJECT", "STATE", "AGENT", "TIME", "QUOTA", "LAST", "BRANCH", "TASK")
_SHOWN = 20
_COLOURS = {"completed": "green", "failed": "red", "stopped": "yellow"}
_PAUSE = 2.0
"""Seconds between two looks of `--watch`."""
_PATIENCE = 5.0
"""Seconds that each of several daemons has for its answer."""
_WIDE, _LEAST = 44, 24
"""Letters of a task and of the last thing that was done; with less room than that they stand on a line of their own."""
_NARROW = 10
"""Columns that the name of a value takes, where each has a line."""


@attrs.frozen(kw_only=True)
class SessionRow(Session):
    """A session, with what its account has used of its nearest wall (0..1), and the project where several are asked."""

    quota_used: float | None = None
    project: str | Unset = UNSET


@attrs.frozen(kw_only=True)
class Listing:
    """What is told; how many may run at once where one project is asked."""

    sessions: list[SessionRow]
    concurrent: int | Unset = UNSET
    unattended: bool | Unset = UNSET
    """Told where sessions are not over, and no daemon runs that goes on with them."""


@click.command()
@click.option(
    "--all", "-a", "everything", is_flag=True, help=f"Also show what ended before the last {_SHOWN}."
)
@click.option("--all-projects", "-A", "anywhere", is_flag=True, help="Show every project whose daemon runs.")
@click.option("--watch", "-w", is_flag=True, help="Keep watching for changes, until Ctrl-C.")
@with_json
def ls(ctx: click.Context, *, everything: bool, anywhere: bool, watch: bool, as_json: bool) -> None:
    """List sessions: those that need you first, then working, waiting and done.

    Needs no daemon; with --watch --json one document a line.

    Example: hub ls --all-projects
    """

    def answer() -> Listing:
        return _everywhere() if anywhere else here(ctx)

    def text(found: Listing) -> str:
        rows = listed(found.sessions, everything=everything)
        return rows if found.unattended is UNSET else f"{rows}\n{UNATTENDED}"

    if watch:
        _watch(answer, text, as_json=as_json)
    else:
        show(answer(), as_json=as_json, text=text)


def here(ctx: click.Context) -> Listing:
    """This project's, with what its accounts have used where a daemon knows."""
    records = Records(ctx)
    found = records.read(Sessions, "/api/sessions")
    left = records.alone and any(not one.ended_at for one in found.sessions)
    return Listing(
        sessions=_rows(found.sessions, client(ctx)),
        concurrent=found.concurrent,
        unattended=True if left else UNSET,
    )


def _rows(sessions: Sequence[Session], api: Api, project: str | Unset = UNSET) -> list[SessionRow]:
    """Each with the share of its account's nearest wall that is used; None where nobody knows."""
    wallet: list[Entry] = []
    if any(not one.ended_at for one in sessions):
        with suppress(HubError):
            wallet = api.read(list[Entry], "/api/quota/wallet")
    used = {(entry.provider, entry.account): entry.fraction_used for entry in wallet}
    return [
        SessionRow(
            **attrs.asdict(one, recurse=False),
            quota_used=None if one.ended_at else used.get((one.active_provider, one.account)),
            project=project,
        )
        for one in sessions
    ]


def _everywhere() -> Listing:
    return Listing(
        sessions=everywhere(
            lambda root, api: _rows(api.read(Sessions, "/api/sessions").sessions, api, str(root))
        )
    )


def everywhere(ask: Callable[[Path, Api], list[T]]) -> list[T]:
    """What the daemons of all projects answer; one that does not answer is none."""
    from concurrent.futures import ThreadPoolExecutor

    from hub.io.project.daemons import projects

    def answer(root: Path) -> list[T]:
        try:
            return ask(root, find(None, root, {}, timeout=_PATIENCE))
        except HubError:
            return []

    roots = projects()
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [row for rows in pool.map(answer, roots) for row in rows]


def _watch(answer: Callable[[], Listing], text: Callable[[Listing], str], *, as_json: bool) -> None:
    """Show it again whenever it is another one; on a terminal in the same place."""
    before, drawn = "", not as_json and sys.stdout.isatty()
    while True:
        found = answer()
        whole = document(found)
        said = whole if as_json else text(found)
        news = said if drawn else whole  # in a file the passing of time is no news
        if news != before:
            if before and drawn:
                click.clear()
            click.echo(said)
            sys.stdout.flush()
            before = news
        rest(_PAUSE)


def listed(
    rows: list[SessionRow], *, everything: bool = False, now: datetime | None = None, width: int | None = None
) -> str:
    """The table for people; the newest of a group first."""
    if not rows:
        return 'no session yet - start one: hub run "task"'
    now = now or datetime.now(UTC)
    width = columns(sys.stdout) if width is None else width
    newest_first = rows[::-1]
    ordered = sorted(newest_first, key=lambda row: row.group)
    ended = [row for row in ordered if row.session_state in ENDED]
    shown = ordered if everything else [*ordered[: len(ordered) - len(ended)], *ended[:_SHOWN]]
    clock, names = Clock(now.timestamp()), [row.session_id for row in rows]
    tints = ["magenta" if row.needs != "none" else _COLOURS.get(row.session_state) for row in shown]
    groups = [GROUPS[row.group] for row in shown]

    def drawn(letters: int) -> list[tuple[str, ...]]:
        return [_cells(row, names, now, clock, letters) for row in shown]

    for letters in range(_WIDE, _LEAST - 1, -4):
        text = table(_HEADINGS, drawn(letters), tints, width, groups=groups)
        if "\n\n" not in text:
            break
    else:
        cells = drawn(max(_LEAST, width - _NARROW))
        text = table(
            _HEADINGS[:-3],
            [row[:-3] for row in cells],
            tints,
            width,
            groups=groups,
            below=[" · ".join(filter(None, row[:-4:-1])) for row in cells],
        )
        if "\n\n" in text:
            text = table(_HEADINGS, cells, tints, width, groups=groups)
    hidden = len(ordered) - len(shown)
    return f"{text}\n{hidden} more: hub ls --all" if hidden else text


def _cells(row: SessionRow, names: list[str], now: datetime, clock: Clock, letters: int) -> tuple[str, ...]:
    used, usual = row.quota_used, f"hub/{row.session_id}"
    return (
        short(row.session_id, names),
        "" if row.project is UNSET else Path(row.project).name,
        _state(row, clock),
        agent_name(row.active_provider, row.account),
        _time(row, now),
        f"{used:.0%}" if used is not None else "",
        clip(told(row.last, now.timestamp()), letters),
        row.branch if row.branch != usual else "",
        clip(row.title, letters),
    )


def short(session_id: str, names: list[str]) -> str:
    """The beginning of an id that no other has: every command takes it."""
    head = "-".join(session_id.split("-")[:2])
    return head if sum(name.startswith(head) for name in names) == 1 else session_id


def _state(row: SessionRow, clock: Clock) -> str:
    if row.group == WAITS:
        return f"until {clock.at(row.wait_until or '')}"
    return row.standing


def _time(row: SessionRow, now: datetime) -> str:
    """How long it works, or how long ago it ended."""
    since = row.ended_at or row.started_at
    if not since:
        return ""
    past = span((now - datetime.fromisoformat(since)).total_seconds())
    return f"{past} ago" if row.ended_at else past
