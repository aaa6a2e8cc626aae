"""`hub logs`: the event log, once or live.

Owns: the order and the end of the listing.
Must not: hold events back; a reader sees them when the daemon has them.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial

import attrs
import click

from hub.api.sessions import Sessions
from hub.cli.context import client, session_argument, with_json
from hub.cli.local.records import Records
from hub.cli.terminal.screen import HANG, Screen, block, whole
from hub.cli.terminal.table import name_zone
from hub.cli.terminal.width import columns, hung
from hub.client.quick import Api
from hub.domain.event import RecordJson
from hub.domain.session import meant_by
from hub.domain.text.safe import headline, one_json

_PAGE = 1000
Batch = list[RecordJson]


@click.command()
@session_argument
@click.option("--follow", "-f", is_flag=True, help="Keep following, until Ctrl-C.")
@click.option("--since", default=0, type=click.IntRange(0), help="Only records after this id.")
@click.option("--full", is_flag=True, help="Show every record in full.")
@with_json
def logs(ctx: click.Context, *, session: str, follow: bool, since: int, full: bool, as_json: bool) -> None:
    """Show the event log, or a session's part of it, one line per record, each session's below its id.

    With --json one array; with -f --json one document a line.

    Without -f it needs no daemon.

    Example: hub logs -f
    """
    only = _meant(ctx, session)
    if as_json and not follow:
        kept = [record for page in pages(Records(ctx), since, only) for record in page]
        click.echo(one_json(kept))
        return
    daemon = client(ctx)
    floor = None if only else Floor()
    out = _print_json if as_json else partial(_print, Screen(), floor, whole if full else block)
    for number, page in enumerate(pages(daemon if follow else Records(ctx), since, only)):
        if not (number or as_json):
            name_zone()
        out(page)
        since = page[-1]["id"]
    if not (since or follow):
        click.echo("nothing yet")
    if follow:
        _follow(daemon, since, lambda batch: out([one for one in batch if _concerns(one, only)]))


def _meant(ctx: click.Context, given: str) -> str:
    """The session that an id or the beginning of one means, also one that waits for its turn; "" = all of them."""
    if not given:
        return ""
    found = Records(ctx).read(Sessions, "/api/sessions")
    return meant_by(given, [row.session_id for row in found.sessions])


def _concerns(record: RecordJson, session_id: str) -> bool:
    return not session_id or record.get("meta", {}).get("sessionId") == session_id


def pages(daemon: Api | Records, since: int, session_id: str = "") -> Iterator[Batch]:
    """The log so far, or a session's part of it; a reader sees its beginning before its end is fetched."""
    only = {"sessionId": session_id} if session_id else {}
    while page := daemon.get("/api/events", {"since": since, "limit": _PAGE, **only}):
        yield page
        since = page[-1]["id"]


@attrs.define
class Floor:
    """Whose the lines are: where those of another session begin, a heading names it, and the first time its task."""

    _session: str = ""

    def heading(self, record: RecordJson) -> str:
        """What stands above the record; "" = nothing. The words of a pipeline's run about a session are the run's own."""
        meta = record.get("meta", {})
        session, before = meta.get("sessionId", ""), self._session
        if not session or "node" in meta:
            return ""
        self._session = session
        task = headline(meta["task"]) if "taskId" in meta else ""
        return f"--- {session}  {task}".rstrip() if session != before else ""


def _print(
    screen: Screen, floor: Floor | None, drawn: Callable[[RecordJson], list[str]], records: Batch
) -> None:
    width = columns(sys.stdout)
    for record in records:
        if screen.shows(record):
            if heading := floor.heading(record) if floor else "":
                click.secho(hung(heading, width, HANG), dim=True)
            click.echo("\n".join(hung(line, width, HANG) for line in drawn(record)))


def _print_json(records: Batch) -> None:
    for record in records:
        click.echo(one_json(record))


def _follow(daemon: Api, since: int, out: Callable[[Batch], None]) -> None:
    import trio

    from hub.client.live import follow as live

    async def go() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_reader_leaves)
            async with live(daemon, since) as batches:
                async for batch in batches:
                    out(batch)

    trio.run(go)


async def _reader_leaves() -> None:
    """As `tail -f`: when stdout is a pipe and its reader leaves, end then, not at the next record.

    Raises:
        BrokenPipeError: The reader has left.
    """
    import trio

    out = sys.stdout.fileno()
    if stat.S_ISFIFO(os.fstat(out).st_mode):
        await trio.lowlevel.wait_readable(out)  # the writing end wakes a waiter only by the error
        raise BrokenPipeError
