"""`hub daemon`: serve a project until stopped.

Owns: what is said at start and end.
Must not: start a session.
"""

from __future__ import annotations

import json
import sys

import click

from hub.cli.context import project_dir, trust_option, with_json
from hub.cli.trusting import insist_on_trust
from hub.io import gc_policy

_SWITCH = 0.0002
"""Seconds for which a thread that reads or seals a log may keep the event loop waiting; Python's own are 5 ms."""


@click.command()
@click.option(
    "--port", default=None, type=click.IntRange(0, 65535), help="The port to listen on; 0 = any free port."
)
@click.option("--demo", is_flag=True, help="Enable the scripted agents demo-first and demo-second.")
@click.option("--detach", is_flag=True, help="When stopped, leave the agent running for the next daemon.")
@trust_option
@with_json
def daemon(
    ctx: click.Context, *, port: int | None, demo: bool, detach: bool, once: bool, as_json: bool
) -> None:
    """Run the project's daemon until Ctrl-C or SIGTERM. The first stops the session cleanly, the second at once.

    Example: hub daemon --port 0
    """
    gc_policy.begin()
    sys.setswitchinterval(_SWITCH)
    import attrs
    import trio

    from hub.cli.local.report import report
    from hub.cli.local.serve import in_a_job, order_for
    from hub.daemon import Daemon, run_daemon

    in_a_job()
    flags = {"port": port if port is not None else ctx.obj["port"], "demo": demo or None}
    gate = insist_on_trust(project_dir(ctx), once=once, as_json=as_json)
    order = order_for(project_dir(ctx), flags=flags, detach=detach, on_event=report, gate=gate)
    order = attrs.evolve(order, signals=True)

    async def go() -> None:
        async with trio.open_nursery() as nursery:
            running: Daemon = await nursery.start(run_daemon, order)
            gc_policy.begun()
            told = {"url": running.url, "port": running.port, "project": str(order.places.root)}
            for warning in running.warnings:
                click.echo(f"hub: {warning.detail}\n     {warning.hint}", err=True)
            click.echo(json.dumps(told) if as_json else f"hub serves {order.places.root} on {running.url}")
            await running.over.wait()
        if not as_json:
            click.echo("hub has stopped in order", err=True)

    trio.run(go)
