"""`hub run`: start a task and watch it to its end, with a daemon of its own where none runs.

Owns: what is asked of the daemon, and the order of starting, watching and telling the end.
Must not: carry the session itself.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from hub.cli.context import json_option, project_dir, trust_option
from hub.cli.trusting import insist_on_trust
from hub.errors import Code, HubError
from hub.io.trust import Gate


@click.command()
@click.argument("task")
@click.option("--provider", default="", help="Who starts; default: the first of the chain.")
@click.option("--profile", default="", help="A profile of hub.toml.")
@click.option("--kind", default="", help="What kind of task it is: chooses the first profile for it.")
@click.option("--verify", multiple=True, metavar="COMMAND", help="An acceptance command; may be repeated.")
@click.option(
    "--threshold",
    default=None,
    type=click.FloatRange(0, 1, min_open=True),
    help="Quota share to hand off at.",
)
@click.option(
    "--max-handoffs", default=None, type=click.IntRange(0), help="How often the work may change hands."
)
@click.option(
    "--on-limit", default=None, type=click.Choice(["handoff", "wait", "stop"]), help="What to do at the wall."
)
@click.option("--queue", is_flag=True, help="Wait for its turn where other sessions have every place.")
@click.option("--quiet", "-q", is_flag=True, help="Only the end.")
@click.option("--verbose", "-v", is_flag=True, help="Also each state of a handoff, and every reading.")
@trust_option
@json_option
@click.pass_context
def run(
    ctx: click.Context, /, *, as_json: bool, quiet: bool, verbose: bool, once: bool, **options: Any
) -> int:
    """Run a task: an agent works in its own worktree, and the next one goes on when it hits its limit.

    Ctrl-C once ends the session in order, with a snapshot; twice leaves at once.

    Example: hub run --verify "make test" "Add --json to the list command"
    """
    import trio

    if not options["task"].strip():
        raise HubError(Code.USAGE, "The task is empty.", hint='Say what is to be done: hub run "..."')
    project = project_dir(ctx)
    gate = insist_on_trust(project, once=once, as_json=as_json)
    body = request(project, options, gate)
    begin = partial(_run, project, ctx.obj["port"], body, gate, quiet=quiet, verbose=verbose, as_json=as_json)
    return trio.run(begin)


def request(project: Path, options: dict[str, Any], gate: Gate | None = None) -> dict[str, Any]:
    """The body of `POST /api/run`: options over environment over `hub.toml`.

    Raises:
        HubError: `not_a_repository`, `no_commit`, `config_invalid`; `invalid`: what was named is not there.
    """
    from hub.cli.beforehand import config_of, insist_on_commit, insist_on_names

    flags = {name: options[name] for name in ("threshold", "max_handoffs", "on_limit")}
    config = config_of(project, flags, gate)
    insist_on_commit(project)
    session = config.session
    named = {name: options[name] for name in ("provider", "profile", "kind") if options[name]}
    insist_on_names(project, config, named)
    if options["verify"]:
        named["verify"] = list(options["verify"])
    return {
        "task": options["task"],
        "threshold": session.threshold,
        "maxHandoffs": session.max_handoffs,
        "onLimit": session.on_limit,
        **({"queue": True} if options["queue"] else {}),
        **({"trust": gate.said} if gate is not None and gate.said else {}),
        **named,
    }


async def _run(
    project: Path,
    port: int | None,
    body: dict[str, Any],
    gate: Gate,
    *,
    quiet: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    from hub.cli.beforehand import config_of, insist_on_agent
    from hub.cli.join import daemon_for
    from hub.cli.outcome import outcome
    from hub.cli.watch import last_event, watch

    def somebody() -> None:
        insist_on_agent(config_of(project, gate=gate), body.get("provider", ""))

    async with daemon_for(project, port, quiet=quiet, alone=somebody, gate=gate) as joined:
        since = await last_event(joined.api)
        started = await joined.start_session(body)
        if not quiet:
            turn = f", waits for its turn as number {started['position']}" if started["position"] else ""
            click.echo(f"session {started['sessionId']} on {started['branch']}{turn}", err=True)
        status = await watch(
            joined.api, started["sessionId"], since, quiet=quiet, verbose=verbose, keys=not as_json
        )
    if status is None:
        return 0
    return outcome(status, project, as_json=as_json)
