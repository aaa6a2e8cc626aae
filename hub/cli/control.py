"""Orders to the running session: handoff, pause, resume, reply, stop.

Owns: the words a user gives these orders with.
Must not: decide whether an order is possible; the daemon answers that.
"""

from __future__ import annotations

import click

from hub.cli.context import client, json_option, show


@click.command()
@json_option
@click.pass_context
def handoff(ctx: click.Context, *, as_json: bool) -> None:
    """Hand the work to the next agent now; ends a wait.

    Example: hub handoff
    """
    answer = client(ctx).post("/api/handoff")
    show(answer, as_json=as_json, text=lambda _: "handing over - watch it: hub logs -f")


@click.command()
@json_option
@click.pass_context
def pause(ctx: click.Context, *, as_json: bool) -> None:
    """Hold the agent at the next event.

    Example: hub pause
    """
    answer = client(ctx).post("/api/session/pause", {"pause": True})
    show(answer, as_json=as_json, text=lambda _: "paused - go on: hub resume")


@click.command()
@json_option
@click.pass_context
def resume(ctx: click.Context, *, as_json: bool) -> None:
    """Let the agent go on.

    Example: hub resume
    """
    answer = client(ctx).post("/api/session/pause", {"pause": False})
    show(answer, as_json=as_json, text=lambda _: "going on")


@click.command()
@click.argument("text")
@json_option
@click.pass_context
def reply(ctx: click.Context, text: str, *, as_json: bool) -> None:
    """Answer the agent's question.

    Example: hub reply "use the second one"
    """
    answer = client(ctx).post("/api/session/reply", {"reply": text})
    show(answer, as_json=as_json, text=lambda _: "sent")


@click.command()
@json_option
@click.pass_context
def stop(ctx: click.Context, *, as_json: bool) -> None:
    """End the session in order, snapshot included.

    Example: hub stop
    """
    answer = client(ctx, timeout=310).post("/api/session/stop")
    show(answer, as_json=as_json, text=lambda _: "stopped - see what was done: hub diff")
