"""Orders to a running session: handoff, pause, resume, reply, stop.

Owns: the words a user gives these orders with.
Must not: decide whether an order is possible; the daemon answers that.
"""

from __future__ import annotations

import click

from hub.api.session import HandingOver, Pause, Paused, Replied, Stopped, TextReply, Which
from hub.cli import completing
from hub.cli.context import client, json_option, session_argument, show


@click.command()
@session_argument
@json_option
@click.pass_context
def handoff(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Hand the work to the next agent now. Also ends a wait.

    Example: hub handoff
    """
    answer = client(ctx).order(HandingOver, "/api/handoff", Which(session_id=session))
    show(answer, as_json=as_json, text=lambda _: "handing over - watch it: hub logs -f")


@click.command()
@session_argument
@json_option
@click.pass_context
def pause(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Pause the agent at its next event.

    Example: hub pause
    """
    answer = client(ctx).order(Paused, "/api/session/pause", Pause(pause=True, session_id=session))
    show(answer, as_json=as_json, text=lambda _: "paused - go on: hub resume")


@click.command()
@session_argument
@json_option
@click.pass_context
def resume(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Let a paused agent continue.

    Example: hub resume
    """
    answer = client(ctx).order(Paused, "/api/session/pause", Pause(pause=False, session_id=session))
    show(answer, as_json=as_json, text=lambda _: "going on")


@click.command()
@click.argument("text")
@click.option(
    "--session",
    default="",
    metavar="SESSION",
    shell_complete=completing.sessions,
    help="The session to answer, if several run.",
)
@json_option
@click.pass_context
def reply(ctx: click.Context, text: str, session: str, *, as_json: bool) -> None:
    """Answer the agent's question.

    Example: hub reply "use the second one"
    """
    answer = client(ctx).order(Replied, "/api/session/reply", TextReply(reply=text, session_id=session))
    show(answer, as_json=as_json, text=lambda _: "sent")


@click.command()
@session_argument
@json_option
@click.pass_context
def stop(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Stop a session cleanly, with a snapshot.

    Example: hub stop
    """
    answer = client(ctx, timeout=310).order(Stopped, "/api/session/stop", Which(session_id=session))
    show(answer, as_json=as_json, text=lambda _: "stopped - see what was done: hub diff")
