"""`hub attach`: come back to a session that works, and answer it in place.

Owns: which session is meant, and what leaving means: the session works on.
Must not: start or stop anything unless a key asks for it.
Tests: tests/hub/cli/local/test_background.py
"""

from __future__ import annotations

import signal
from functools import partial
from typing import TYPE_CHECKING

import click

from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.cli.commands.logs import pages
from hub.cli.context import document, project_dir, running, session_argument, which, with_json
from hub.cli.terminal.outcome import outcome
from hub.client.quick import Api
from hub.domain.event import RecordJson
from hub.domain.session import meant_by, several_meant
from hub.errors import Code, HubError

if TYPE_CHECKING:
    import trio


@click.command()
@session_argument
@click.option(
    "--verbose", "-v", is_flag=True, help="Also show each state of a handoff and every quota reading."
)
@with_json
def attach(ctx: click.Context, *, session: str, verbose: bool, as_json: bool) -> int:
    """Watch a running session and answer it in place; Ctrl-C or d leaves it running.

    On a terminal, single keys answer and steer it (? lists them).

    Example: hub attach s-6b04
    """
    import trio

    from hub.cli.commands.run import next_commands

    api = running(ctx)
    session_id = meant(api.read(Sessions, "/api/sessions").sessions, session)
    status = trio.run(partial(_watch, api, session_id, verbose=verbose, keys=not as_json, quiet=as_json))
    if status is None and as_json:
        click.echo(document(api.again().read(Status, "/api/status", which(session_id))))
        return 0
    if status is None:
        click.echo("left at work\n" + "\n".join(next_commands(session_id)))
        return 0
    return outcome(status, project_dir(ctx), as_json=as_json, seen=not as_json)


def meant(rows: list[Session], given: str) -> str:
    """The session that is named by its id or the beginning of it; else the only one that works, else the newest.

    Raises:
        HubError: `not_found`, `which_session`, `no_active_session`.
    """
    if given:
        return meant_by(given, [row.session_id for row in rows])
    active = [row.session_id for row in rows if not row.ended_at]
    found = active or [row.session_id for row in rows[-1:]]
    if not found:
        raise HubError(Code.NO_ACTIVE_SESSION)
    if len(found) > 1:
        raise several_meant(found)
    return found[0]


async def _watch(api: Api, session_id: str, *, verbose: bool, keys: bool, quiet: bool) -> Status | None:
    """Its last status, once it has ended; None where the user has left."""
    import trio

    from hub.cli.terminal.watch import watch

    seen, last = await trio.to_thread.run_sync(_before, api, session_id)
    ended = any(one.get("meta", {}).get("ended") for one in seen)  # a pipeline has a word on it after its end
    status: Status | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_leaves, nursery.cancel_scope)
        status = await watch(
            api, session_id, last, quiet=quiet, verbose=verbose, keys=keys, seen=seen, ended=ended
        )
        nursery.cancel_scope.cancel(reason="watched to its end")
    return status


async def _leaves(scope: trio.CancelScope) -> None:
    """Ctrl-C and a hang-up leave the session at work."""
    import trio

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel(reason="the user has left")
            return


def _before(api: Api, session_id: str) -> tuple[list[RecordJson], int]:
    """The session's records so far, and the id of the log's last one."""
    records: list[RecordJson] = []
    last = 0
    for page in pages(api, 0):
        records += [one for one in page if one.get("meta", {}).get("sessionId") == session_id]
        last = page[-1]["id"]
    return records, last
