"""`hub run`: start a task and watch it to its end, with a daemon of its own where none runs.

Owns: what is asked of the daemon, and the order of starting, watching and telling the end; leaving a session at work.
Must not: carry the session itself.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from hub.api.session import Run, Started
from hub.cli import completing
from hub.cli.context import document, project_dir, session_id, trust_option, with_json
from hub.cli.terminal.outcome import outcome
from hub.cli.terminal.task import task_of
from hub.cli.terminal.width import columns, hung
from hub.cli.trusting import insist_on_trust
from hub.domain.session import OnLimit
from hub.errors import Code, HubError
from hub.io.project.trust import Gate


@click.command()
@click.argument("task", default="")
@click.option(
    "--file",
    default="",
    metavar="FILE",
    shell_complete=completing.files,
    help="Read the task from a file; - is standard input.",
)
@click.option("--detach", "-d", is_flag=True, help="Run in the background and return at once.")
@click.option(
    "--provider",
    default="",
    shell_complete=completing.providers,
    help="The agent that starts; default: the first in the chain.",
)
@click.option("--profile", default="", shell_complete=completing.profiles, help="A profile from hub.toml.")
@click.option("--kind", default="", help="The kind of task; picks the first profile for it.")
@click.option("--verify", multiple=True, metavar="COMMAND", help="A command that must succeed; repeatable.")
@click.option(
    "--threshold",
    default=None,
    type=click.FloatRange(0, 1, min_open=True),
    help="Hand over at this share of the quota.",
)
@click.option("--max-handoffs", default=None, type=click.IntRange(0), help="At most this many handoffs.")
@click.option(
    "--on-limit",
    default=None,
    type=click.Choice(["handoff", "wait", "stop"]),
    help="What to do when the quota runs out.",
)
@click.option(
    "--continue",
    "continues",
    default="",
    metavar="SESSION",
    callback=session_id,
    shell_complete=completing.sessions,
    help="Continue an ended session, with its work and what it learned.",
)
@click.option("--queue", is_flag=True, help="Wait for a free slot if other sessions hold them all.")
@click.option("--quiet", "-q", is_flag=True, help="Show only the result.")
@click.option(
    "--verbose", "-v", is_flag=True, help="Also show each state of a handoff and every quota reading."
)
@trust_option
@with_json
def run(
    ctx: click.Context,
    /,
    *,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    once: bool,
    detach: bool,
    file: str,
    **options: Any,
) -> int:
    """Run a task: an agent works in its own worktree, and the next takes over when it hits its limit.

    TASK may be - to read standard input; without it, your editor opens. On a terminal, single keys answer and steer
    (? lists them). Ctrl-C stops the session cleanly, with a snapshot; a second Ctrl-C quits at once.

    Example: hub run --verify "make test" "Add --json to the list command"
    """
    import trio

    options["task"] = task_of(options["task"], file)
    project, port = project_dir(ctx), ctx.obj["port"]
    gate = insist_on_trust(project, once=once, as_json=as_json)
    body = request(project, options, gate)
    if detach:
        return _leave(project, port, body, gate, as_json=as_json)
    begin = partial(_run, project, port, body, gate, quiet=quiet, verbose=verbose, as_json=as_json)
    return trio.run(begin)


def _leave(project: Path, port: int | None, body: Run, gate: Gate, *, as_json: bool) -> int:
    """Start it and go: what it needs from here on its daemon has."""
    from hub.cli.local import background
    from hub.cli.local.join import START_TIMEOUT

    api, fresh = background.daemon(project, port, trusted=bool(gate.said))
    if fresh:
        background.announce(project, api)  # it stays, whatever it says to the order
    started = api.within(START_TIMEOUT).order(Started, "/api/run", body)
    if as_json:
        click.echo(document(started))
        return 0
    click.echo(hung(_begun(started), columns(sys.stderr), 2), err=True)
    click.echo("\n".join(next_commands(started.session_id)))
    return 0


def next_commands(session_id: str) -> list[str]:
    """What can be done with a session that nobody watches."""
    return [
        f"watch it:  hub attach {session_id}",
        f"its work:  hub diff {session_id}",
        f"end it:    hub stop {session_id}",
        "all:       hub ls",
    ]


def _begun(started: Started) -> str:
    turn = f", waits for its turn as number {started.position}" if started.position else ""
    return f"session {started.session_id} on {started.branch}{turn}"


def request(project: Path, options: dict[str, Any], gate: Gate | None = None) -> Run:
    """The body of `POST /api/run`: options over environment over `hub.toml`.

    Raises:
        HubError: `usage`, `not_a_repository`, `no_commit`, `config_invalid`; `invalid`: what was named is not there.
    """
    from hub.cli.beforehand import config_of, insist_on_commit, insist_on_names

    flags = {name: options[name] for name in ("threshold", "max_handoffs", "on_limit")}
    config = config_of(project, flags, gate)
    if not all(map(str.strip, options["verify"])):
        hint = "Name one, or leave --verify out; an empty one would pass."
        raise HubError(Code.USAGE, "An acceptance command is empty.", hint=hint)
    insist_on_commit(project)
    session = config.session
    named = {name: options[name] for name in ("provider", "profile", "kind") if options[name]}
    insist_on_names(project, config, named)
    return Run(
        task=options["task"],
        threshold=session.threshold,
        max_handoffs=session.max_handoffs,
        on_limit=OnLimit(session.on_limit),
        verify=list(options["verify"]) or None,
        queue=options["queue"],
        continues=options["continues"],
        trust=gate.said if gate is not None else "",
        **named,
    )


async def _run(
    project: Path,
    port: int | None,
    body: Run,
    gate: Gate,
    *,
    quiet: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    from hub.cli.beforehand import config_of, insist_on_agent
    from hub.cli.local import background
    from hub.cli.local.join import daemon_for
    from hub.cli.terminal.watch import last_event, watch

    def somebody() -> None:
        insist_on_agent(config_of(project, gate=gate), body.provider)

    async with daemon_for(project, port, quiet=quiet or as_json, alone=somebody, gate=gate) as joined:
        since = await last_event(joined.api)
        started = await joined.start_session(body)
        session_id = started.session_id
        if not quiet:
            click.echo(hung(_begun(started), columns(sys.stderr), 2), err=True)
        status = await watch(joined.api, session_id, since, quiet=quiet, verbose=verbose, keys=not as_json)
        joined.left = status is None
    if status is None:
        if joined.own:
            background.daemon(project, port, trusted=bool(gate.said))
        click.echo("left at work\n" + "\n".join(next_commands(session_id)))
        return 0
    return outcome(status, project, as_json=as_json, seen=not quiet)
