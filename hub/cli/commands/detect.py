"""`hub detect`, `hub adopt`: agents that run already, and going on with their work.

Owns: how they are shown, and the watch.
Must not: decide what is an agent, or end one without being told.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from hub.api.detect import Adopted, AdoptOrder, Detected
from hub.cli import completing
from hub.cli.context import client, document, project_dir, show, trust_option, with_json
from hub.cli.ending import rest
from hub.cli.local.background import at_hand
from hub.cli.terminal.meanwhile import waiting_for
from hub.cli.terminal.outcome import hub_in
from hub.cli.terminal.width import columns, hung
from hub.client.place import root_of
from hub.client.quick import unless_absent
from hub.domain.text.figures import counted, first_of, span
from hub.errors import Code, HubError

_LOOK = 1.5
_HOURS = 24
_SHOWN = 20
"""Sessions left behind that are listed where not all are asked for; a busy day leaves hundreds."""
_FEW = 3
"""Sessions of which one may be an agent's: as many are named."""
_WIDE = 60
_NAME = 8
"""Columns of the names of what is known."""


@click.command()
@click.option(
    "--since-hours", default=_HOURS, type=click.IntRange(0, 24 * 365), help="Look back this many hours."
)
@click.option(
    "--all",
    "-a",
    "everything",
    is_flag=True,
    help=f"Also show the sessions left before the last {_SHOWN}, and hub's own.",
)
@click.option("--watch", is_flag=True, help="Keep looking, and show what is new.")
@with_json
def detect(ctx: click.Context, *, since_hours: int, everything: bool, watch: bool, as_json: bool) -> None:
    """Find AI coding agents on this machine: those running, and recent sessions. Needs no daemon and no project.

    Besides the agents that hub can run it finds Cursor, Antigravity, Amp, Pi, Kimi Code, Droid, Cline, Roo Code, Kilo Code,
    Goose and Crush. It only reads, and says what it cannot read.

    Example: hub detect --since-hours 3
    """
    with waiting_for("looking at what runs on this machine, and at the sessions that agents have left"):
        found = _found(ctx, since_hours)
    if not watch:
        show(found, as_json=as_json, text=partial(table, everything=everything, hours=since_hours))
        return
    # It only reads, so Ctrl-C may end it at once; Python's own way is lost where it meets a callback of SQLite's.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _tell(found, as_json=as_json)
    known = {name for one in found for name in _names(one)}
    while True:
        rest(_LOOK)
        found = _found(ctx, since_hours)
        _tell([one for one in found if _names(one)[0] not in known], as_json=as_json)
        known |= {name for one in found for name in _names(one)}


@click.command()
@click.argument("number", metavar="ID")
@click.option(
    "--for",
    "target",
    required=True,
    metavar="PROVIDER",
    shell_complete=completing.providers,
    help="The agent that continues it.",
)
@click.option(
    "--start", is_flag=True, help="Start a session on it, in a worktree with the agent's files as they are."
)
@click.option(
    "--interactive", is_flag=True, help="Open the new agent's own program in a terminal, in that folder."
)
@click.option("--stop", is_flag=True, help="Stop the old agent first if it still runs.")
@click.option(
    "--repository",
    default="",
    metavar="DIR",
    shell_complete=completing.folders,
    help="The repository it works in, if not this project; its files are then in the brief too.",
)
@trust_option
@with_json
def adopt(
    ctx: click.Context,
    /,
    number: str,
    *,
    target: str,
    repository: str,
    once: bool,
    as_json: bool,
    **ways: bool,
) -> None:
    """Continue the work of an agent that hub did not start.

    hub writes a brief from the agent's own transcript to `.hub/adopted/`. With --start a session begins on it, in the
    project of the agent's work. An agent that still runs is refused unless --stop is given.

    ID: as in `hub detect`, or the beginning of it, with the agent's name or without.

    Example: hub adopt claude:01a1fe0c-897b-7642-9087-e765bd0c6561 --for codex
    """
    if ways["start"] and ways["interactive"]:
        raise HubError(Code.USAGE, "--start and --interactive exclude each other.")
    place = Path(repository).resolve() if repository else None
    # A session begins in the project of its work: that one's daemon is asked. It is also where we are in none.
    elsewhere = place if ways["start"] or root_of(project_dir(ctx)) is None else None
    project = root_of(elsewhere or project_dir(ctx))
    said = ""
    if project is not None and (ways["start"] or ways["interactive"]):
        from hub.cli.trusting import insist_on_trust

        said = insist_on_trust(project, once=once, as_json=as_json).said
    order = AdoptOrder(id=number, target=target, repository=str(place or ""), trust=said, **ways)
    doing = "ending the agent, then reading" if ways["stop"] else "reading"
    daemon = at_hand(ctx, elsewhere)
    with waiting_for(f"{doing} its session and its files"):
        answer = daemon.order(Adopted, "/api/detect/adopt", order)
    show(answer, as_json=as_json, text=adopted)


def adopted(answer: Adopted) -> str:
    """What was made of an adoption."""
    lines = [f"brief: {answer.brief}"]
    if answer.stopped:
        lines.insert(0, f"ended: {', '.join(map(str, answer.stopped))}")
    how = "goes on with the agent's own session" if answer.resumed else "goes on with the brief"
    if answer.mode == "start":
        lines.append(f"{answer.target} {how}: session {answer.session_id} on {answer.branch}")
        lines.append(f"watch it: hub attach {answer.session_id}")
    elif answer.mode == "brief":
        command = f"hub adopt {answer.id} --for {answer.target} --start"
        lines.append(
            f"nothing was started, and the agent still runs; end it and go on: {command} --stop"
            if answer.running
            else f"nothing was started; go on with it: {command}"
        )
    elif answer.mode == "interactive":
        lines.append(f"{answer.target} {how}, in a terminal ({answer.terminal}): {answer.command}")
    return "\n".join(lines)


def _found(ctx: click.Context, hours: int) -> list[Detected]:
    """From the project's daemon where one runs, else looked for here; outside of projects no daemon is meant."""
    daemon = client(ctx)
    if daemon.named or root_of(project_dir(ctx)) is not None:
        found = unless_absent(partial(daemon.read, list[Detected], "/api/detect", {"sinceHours": hours}))
        if found is not None:
            return found
    from hub.cli.local.offline import OfflineProject  # a daemon has it all loaded
    from hub.io.project.places import Places

    folder = project_dir(ctx)  # itself where it is in no project: agents run elsewhere, too
    return OfflineProject(Places(root_of(folder) or folder)).detected(hours)


def _names(one: Detected) -> list[tuple[str, str]]:
    """Who it is, and which session it was asked in: told when it comes, and again when it is first asked something.

    The first is its name now, the other the one it has once it has ended: that is no news.
    """
    asked = one.session.session_id if one.session.initial_prompt else ""
    return [(f"pid {one.pid}" if one.running else one.id, asked), (one.id, asked)]


def _tell(found: list[Detected], *, as_json: bool) -> None:
    for one in found:
        click.echo(document(one) if as_json else "\n".join([*_block(one), ""]))


def table(found: list[Detected], *, everything: bool = True, hours: int = _HOURS) -> str:
    """Every agent under a heading of its own, and how many there are; sessions left come last, this project's first.

    Args:
        found: What was found.
        everything: Whether all sessions that were left are listed, hub's own too.
        hours: How far back was looked.
    """
    if not found:
        return "no agent runs, and none has left a session in that time"
    run = sum(one.running for one in found)
    left = sorted(
        (one for one in found if not one.running and not one.alarm), key=lambda one: not one.adoptable
    )
    others = [one for one in left if one.owner != "hub"]  # hub's own have their list: hub ls
    total = f"{counted(run, 'agent')} running, {counted(len(others), 'session')} left behind"
    shown = left if everything else others[:_SHOWN]
    if len(shown) < len(others):
        back = f" --since-hours {hours}" if hours != _HOURS else ""
        total += f"\n{len(others) - len(shown):,} more: hub detect --all{back}"
    if len(others) < len(left):
        total += f"\n{counted(len(left) - len(others), 'session')} of hub's own: hub ls -A"
    told = [*(one for one in found if one.running or one.alarm), *shown]
    return "\n\n".join([*("\n".join(_block(one)) for one in told), total])


def _block(one: Detected) -> list[str]:
    """A heading, and what is known, each with its name; last the way to go on with it, where there is one."""
    rows = [*_known(one)]
    if one.owner == "hub":
        rows += [("go on", _hand_over(one.work_dir))] if one.running else []
    elif one.session.session_id and one.adoptable:
        rows.append(("go on", f"hub adopt {one.id} --for PROVIDER"))
    elif not one.alarm:
        rows.append(("id", one.id))
    width = columns(sys.stdout)
    lines = (f"  {click.style(f'{name:<{_NAME}}', dim=True)}  {text}" for name, text in rows)
    return [_heading(one), *(hung(line, width, _NAME + 4) for line in lines)]


def _hand_over(folder: str) -> str:
    """The command that hands over the session whose worktree it is, in whatever project."""
    root, found, session = folder.partition("/.hub/worktrees/")
    return f"{hub_in(Path(root))} handoff {session.partition('/')[0]}" if found else "hub handoff"


def _heading(one: Detected) -> str:
    name = click.style(one.display_name, bold=True)
    if one.alarm:
        return name
    mine = ", hub's own" if one.owner == "hub" else ""
    if one.running:
        return f"{name}  {click.style('runs', fg='green')}, pid {one.pid}{mine}"
    return f"{name}  left {span(time.time() - one.last_active)} ago{mine}"


def _known(one: Detected) -> Iterator[tuple[str, str]]:
    if one.alarm:
        yield "account", one.account or "not told"
        yield "alarm", f"sessions may be missing: {one.alarm}"
        return
    yield "folder", one.work_dir or "not told"
    yield "account", one.account or "not told"
    if (session := one.session).session_id:
        prompt = " ".join(session.initial_prompt.split())
        yield "task", f"{prompt[:_WIDE] or '(no prompt yet)'}{'...' if len(prompt) > _WIDE else ''}"
        yield "model", session.model or "not told"
        counts = ((len(session.files_touched), "file"), (session.message_count, "message"))
        tokens = f"{session.tokens_in:,} tokens in, {session.tokens_out:,} out"
        yield "work", ", ".join([*(counted(number, what) for number, what in counts), tokens])
        if session.alarm:
            yield "alarm", f"not to be trusted: {session.alarm}"
    if one.candidates:
        yield "session", f"which one it works on cannot be told: {first_of(one.candidates, _FEW)}"
