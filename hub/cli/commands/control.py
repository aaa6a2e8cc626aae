"""Orders to a running session: handoff, pause, resume, reply, stop.

Owns: the words a user gives these orders with.
Must not: decide whether an order is possible; the daemon answers that.
"""

from __future__ import annotations

import click

from hub.api.meta import UNSET
from hub.api.session import HandingOver, Pause, Paused, Replied, Stopped, TextReply, Which
from hub.cli import completing
from hub.cli.context import (
    client,
    nothing_runs,
    project_dir,
    running,
    session_argument,
    session_id,
    show,
    with_json,
)
from hub.client.place import root_of
from hub.client.quick import ABSENT
from hub.errors import Code, HubError
from hub.io.project.places import Places


@click.command()
@session_argument
@with_json
def handoff(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Hand the work to the next agent now. Also ends a wait.

    Example: hub handoff
    """
    answer = running(ctx).order(HandingOver, "/api/handoff", Which(session_id=session))
    show(answer, as_json=as_json, text=lambda got: f"handing over - watch it: hub attach {got.session_id}")


@click.command()
@session_argument
@with_json
def pause(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Pause the agent at its next event.

    Example: hub pause
    """
    answer = running(ctx).order(Paused, "/api/session/pause", Pause(pause=True, session_id=session))
    show(answer, as_json=as_json, text=lambda _: f"paused - go on: hub resume {session}".rstrip())


@click.command()
@session_argument
@with_json
def resume(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Let a paused agent continue.

    Example: hub resume
    """
    answer = running(ctx).order(Paused, "/api/session/pause", Pause(pause=False, session_id=session))
    show(answer, as_json=as_json, text=lambda _: "going on")


@click.command()
@click.argument("text")
@click.option(
    "--session",
    default="",
    metavar="SESSION",
    callback=session_id,
    shell_complete=completing.sessions,
    help="The session to answer, if several run.",
)
@with_json
def reply(ctx: click.Context, text: str, session: str, *, as_json: bool) -> None:
    """Answer the agent's question.

    Example: hub reply "use the second one"
    """
    answer = running(ctx).order(Replied, "/api/session/reply", TextReply(reply=text, session_id=session))
    show(answer, as_json=as_json, text=lambda _: "sent")


@click.command()
@session_argument
@with_json
def stop(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Stop a session cleanly, with a snapshot. Without a daemon it ends one that an earlier daemon left unfinished.

    Example: hub stop
    """
    api = client(ctx, timeout=310)
    try:
        answer = api.order(Stopped, "/api/session/stop", Which(session_id=session))
    except HubError as error:
        if error.code not in ABSENT:
            raise
        left = _unfinished(ctx, session)
        if left is None:
            raise (
                nothing_runs() if error.code is Code.DAEMON_NOT_RUNNING and not api.named else error
            ) from None
        answer = left
    show(answer, as_json=as_json, text=_stopped)


def _unfinished(ctx: click.Context, session: str) -> Stopped | None:
    """What comes of a session that an earlier daemon has left unfinished; None where there is none."""
    root = root_of(project_dir(ctx))
    if root is None or not Places(root).events_db.is_file():
        return None
    import trio

    from hub.cli.local.stopping import stop_unfinished

    return trio.run(stop_unfinished, Places(root), session)


def _stopped(answer: Stopped) -> str:
    if answer.session_id is UNSET:
        return f"pipeline run {answer.run_id} stopped - see what was done: hub pipeline show"
    if answer.begun is False:
        return f"session {answer.session_id} no longer waits for its turn; it had not begun"
    return f"session {answer.session_id} stopped - see what was done: hub diff {answer.session_id}"
