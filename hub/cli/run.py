"""`hub run`: start a task and watch it to its end, with a daemon of its own where none runs.

Owns: joining the project's daemon or being it, and what Ctrl-C means: once an ordered stop, twice at once.
Must not: carry the session itself.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click

from hub.cli.context import json_option, project_dir
from hub.errors import Code, HubError


@click.command()
@click.argument("task")
@click.option("--provider", default="", help="Who starts; default: the first of the chain.")
@click.option("--profile", default="", help="A profile of hub.toml.")
@click.option("--verify", multiple=True, metavar="COMMAND", help="An acceptance command; may be repeated.")
@click.option("--threshold", default=None, type=click.FloatRange(0, 1, min_open=True), help="Quota share to hand off at.")
@click.option("--max-handoffs", default=None, type=click.IntRange(0), help="How often the work may change hands.")
@click.option("--on-limit", default=None, type=click.Choice(["handoff", "wait", "stop"]), help="At the wall.")
@click.option("--quiet", "-q", is_flag=True, help="Only the end.")
@json_option
@click.pass_context
def run(ctx: click.Context, /, task: str, as_json: bool, quiet: bool, **options: Any) -> int:  # noqa: FBT001
    """Run a task: an agent works in its own worktree, and the next one goes on when it hits its limit.

    Example: hub run --verify "make test" "Add a --json flag to the list command"
    """
    import trio

    body: dict[str, Any] = {"task": task}
    names = {"max_handoffs": "maxHandoffs", "on_limit": "onLimit"}
    for name, value in options.items():
        if value not in (None, "", ()):
            body[names.get(name, name)] = list(value) if isinstance(value, tuple) else value
    return trio.run(_run, ctx, body, quiet, as_json)


async def _run(ctx: click.Context, body: dict[str, Any], quiet: bool, as_json: bool) -> int:  # noqa: FBT001
    from hub.cli.watch import last_event, outcome, watch
    from hub.client.quick import Api

    async with daemon_for(project_dir(ctx), ctx.obj["port"], quiet=quiet) as api:
        since = await last_event(api)
        started = await post(Api(api.port), "/api/run", body)
        if not quiet:
            click.echo(f"session {started['sessionId']} on {started['branch']}", err=True)
        status = await watch(api, started["sessionId"], since, quiet=quiet)
        return outcome(status, as_json=as_json)


async def post(api: Any, path: str, body: dict[str, Any]) -> Any:
    """One POST, off the event loop."""
    import trio

    return await trio.to_thread.run_sync(api.post, path, body, abandon_on_cancel=True)


@asynccontextmanager
async def daemon_for(project: Path, port: int | None, *, quiet: bool) -> AsyncIterator[Any]:
    """The project's daemon: the one that runs, else one in this process for as long as the block lasts."""
    import trio

    from hub.cli.daemon import coded
    from hub.cli.serve import order_for
    from hub.client.quick import Api
    from hub.daemon import Daemon, run_daemon

    running = await trio.to_thread.run_sync(_running, project, port)
    try:
        async with trio.open_nursery() as nursery:
            if running is not None:
                nursery.start_soon(_on_signal, lambda: _ask_to_stop(running))
                yield running
            else:
                # Nobody else is to find this daemon at a fixed place: any free port will do unless one was named.
                order = order_for(project, flags={"port": port or int(os.environ.get("HUB_PORT", "0") or 0)})
                daemon: Daemon = await nursery.start(run_daemon, order)
                if not quiet:
                    click.echo(f"hub serves this session on {daemon.url}", err=True)
                nursery.start_soon(_on_signal, lambda: _ask_to_stop(Api(daemon.port)))
                yield Api(daemon.port)
                daemon.request_stop()
                await daemon.over.wait()
            nursery.cancel_scope.cancel(reason="the session has been watched to its end")
    except BaseExceptionGroup as group:
        raise coded(group) from group


def _running(project: Path, port: int | None) -> Any:
    """The daemon that answers for this project, or None."""
    from hub.client.quick import find

    if port is None and not _announced(project):
        return None
    api = find(port, project)
    try:
        api.get("/api/health")
    except HubError as error:
        if error.code is Code.DAEMON_NOT_RUNNING:
            return None
        raise
    return api


def _announced(project: Path) -> bool:
    return bool(os.environ.get("HUB_PORT")) or any((d / ".hub/daemon.json").exists() for d in (project, *project.parents))


async def _on_signal(stop: Any) -> None:
    import trio

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        count = 0
        async for number in signals:
            count += 1
            if count > 1:
                os._exit(128 + number)
            click.echo("\nstopping in order; Ctrl-C again to leave at once", err=True)
            await trio.to_thread.run_sync(stop, abandon_on_cancel=True)


def _ask_to_stop(api: Any) -> None:
    """The session's end is seen in the event log, so the answer itself is not waited for long."""
    from hub.client.quick import Api

    try:
        Api(api.port, timeout=300).post("/api/session/stop")
    except HubError as error:
        if error.code is not Code.NO_ACTIVE_SESSION:
            click.echo(f"hub: {error.detail}", err=True)
