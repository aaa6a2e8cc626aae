"""`hub pipeline`: check pipelines, run one, show its graph.

Owns: the words for these, and how a pipeline and its run look.
Must not: judge a graph itself (`hub.domain.pipeline.graph` does), or carry the run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import attrs
import click

from hub.api import pipelines as api
from hub.api.pipelines import Node, NodeStatus, RunOrder, RunStarted, RunStatus
from hub.api.tables import read_pipelines
from hub.cli import completing
from hub.cli.base import Group
from hub.cli.context import client, project_dir, show, trust_option, with_json
from hub.cli.terminal.clock import Clock
from hub.cli.terminal.outcome import hub_in
from hub.cli.terminal.table import table
from hub.cli.trusting import insist_on_trust
from hub.client.quick import unless_absent
from hub.domain.config.model import PipelineNode, PipelineSettings
from hub.domain.pipeline.state import NodeOutcome, NodeState, RunState
from hub.domain.text.figures import counted
from hub.errors import RULES, Code, HubError
from hub.io.project.trust import Gate

_LIMIT = 16 * 1024 * 1024
_ABOUT = 24
"""Letters at least for who works on a node."""
_MARKS = {
    "": "○", "pending": "○", "starting": "◐", "running": "◐", "completed": "●", "failed": "✗",
    "stopped": "■", "halted": "·",
}  # fmt: skip
_COLOURS = {
    "starting": "cyan", "running": "cyan", "completed": "green", "failed": "red", "stopped": "yellow",
    "halted": "bright_black",
}  # fmt: skip
_NONE = (
    "there is no pipeline yet: [[pipelines]] in hub.toml describes one, its nodes each with an id and a task"
)


@click.group(cls=Group)
def pipeline() -> None:
    """Run several tasks that build on each other.

    Example: hub pipeline run feature
    """


@pipeline.command()
@click.argument("file", default="", shell_complete=completing.files)
@with_json
def validate(ctx: click.Context, *, file: str, as_json: bool) -> None:
    """Check the project's pipelines, or those of a JSON FILE (- for stdin). Needs no daemon.

    Example: hub pipeline validate pipelines.json
    """
    from hub.cli.beforehand import pipelines_of, providers_of
    from hub.domain.pipeline.graph import problems, refuse

    project = project_dir(ctx)
    found = _of_file(file) if file else pipelines_of(project)
    refuse(problems(found, providers_of(project)))
    told = [{"name": item.name, "nodes": len(item.nodes)} for item in found]
    rows = [f"{item.name}: {counted(len(item.nodes), 'node')}, valid" for item in found]
    words = "\n".join(rows) or _NONE
    show({"ok": True, "pipelines": told}, as_json=as_json, text=lambda _: words)


def _of_file(file: str) -> tuple[PipelineSettings, ...]:
    from hub.domain.canonical import StrictJsonError, parse_strict

    try:
        data = sys.stdin.buffer.read(_LIMIT) if file == "-" else Path(file).read_bytes()
        value = parse_strict(data)
    except OSError as error:
        raise HubError(
            Code.NOT_FOUND, f"{file} cannot be read: {error.strerror}.", hint="Name a file."
        ) from error
    except StrictJsonError as error:
        raise HubError(Code.INVALID, f"{file} is not JSON: {error}", hint="Correct that place.") from error
    return read_pipelines(value if isinstance(value, list) else [value])


@pipeline.command()
@click.argument("name", shell_complete=completing.pipelines)
@click.option("--resume", is_flag=True, help="Keep what the last run of this pipeline completed.")
@click.option("--quiet", "-q", is_flag=True, help="Show only the result.")
@trust_option
@with_json
def run(ctx: click.Context, *, name: str, resume: bool, quiet: bool, once: bool, as_json: bool) -> int:
    """Run a pipeline: its nodes in dependency order, each a session on the work of those before it.

    Ctrl-C once ends the session and the run in order; twice leaves at once.

    Example: hub pipeline run feature
    """
    import trio

    from hub.cli.beforehand import insist_on_commit, insist_on_pipeline

    project = project_dir(ctx)
    gate = insist_on_trust(project, once=once, as_json=as_json)
    insist_on_pipeline(project, name, gate)
    insist_on_commit(project)
    body = RunOrder(name=name, resume=resume, trust=gate.said)
    begin = partial(_run, project, ctx.obj["port"], body, gate, quiet=quiet, as_json=as_json)
    return trio.run(begin)


async def _run(
    project: Path, port: int | None, body: RunOrder, gate: Gate, *, quiet: bool, as_json: bool
) -> int:
    from hub.cli.local.join import daemon_for
    from hub.cli.terminal.watch import ask, last_event, watch_run

    async with daemon_for(project, port, quiet=quiet or as_json, gate=gate) as joined:
        since = await last_event(joined.api)
        started = await joined.start(RunStarted, "/api/pipelines/run", body)
        api = await watch_run(joined.api, started.run_id, since, quiet=quiet)
        ended = await ask(api, RunStatus, "/api/pipelines/run")
    show(ended, as_json=as_json, text=lambda one: summary(one, project))
    return exit_status(ended)


def exit_status(ended: RunStatus) -> int:
    """0 for a completed run, the first failed node's own for a failed one, 130 for one that was stopped."""
    if ended.state is RunState.COMPLETED:
        return 0
    if ended.state is RunState.STOPPED:
        return RULES[Code.INTERRUPTED].exit
    codes = [node.error.code for node in ended.nodes if node.error]
    return RULES[codes[0]].exit if codes else 1


def summary(ended: RunStatus, root: Path) -> str:
    """How the run ended, and what to do next, with commands that need no daemon: it may have ended with the run."""
    colour = _colour(ended.state, sure=all(node.verified for node in ended.nodes))
    lines = [
        "",
        click.style(f"pipeline {ended.name} {ended.state}", fg=colour, bold=True),
        picture(ended.nodes),
    ]
    for node in ended.nodes:
        if node.error:
            lines += [f"{node.id}: {node.error.code}: {node.error.detail.rstrip()}"]
            lines += [f"next: {node.error.hint}"]
    if ended.state is RunState.COMPLETED:
        needed = {name for node in ended.nodes for name in node.depends_on}
        for node in ended.nodes:
            if node.id not in needed:  # the work of those before it is in its own
                take = f"{hub_in(root)} take {node.session_id}"
                lines += [f"see it:   {take} --patch -", f"take it:  {take}"]
    else:
        lines.append(f"go on:    hub pipeline run {ended.name} --resume")
    return "\n".join(lines)


@pipeline.command(name="show")
@click.argument("name", default="", shell_complete=completing.pipelines)
@with_json
def show_one(ctx: click.Context, *, name: str, as_json: bool) -> None:
    """Show a pipeline's graph and the state of its last run; without a NAME, of every pipeline. Needs no daemon.

    Example: hub pipeline show feature
    """
    found = _all(ctx)
    chosen = [item for item in found if name in ("", item.name)]
    if name and not chosen:
        names = ", ".join(item.name for item in found)
        hint = f"There are: {names}." if names else "Describe it in hub.toml, under [[pipelines]]."
        raise HubError(Code.NOT_FOUND, f"There is no pipeline {name!r}.", hint=hint)
    words = _pictures(chosen)
    show(chosen[0] if name else chosen, as_json=as_json, text=lambda _: words)


@pipeline.command(name="list")
@with_json
def list_all(ctx: click.Context, *, as_json: bool) -> None:
    """List every pipeline with its nodes, and how the newest run went. Needs no daemon.

    Example: hub pipeline list
    """
    show(_all(ctx), as_json=as_json, text=_listed)


@attrs.frozen(kw_only=True)
class PipelineAndRun(api.Pipeline):
    """A pipeline with its last run, where the last one was of it."""

    run: RunStatus | None


def _all(ctx: click.Context) -> list[PipelineAndRun]:
    """The pipelines, and with its own the newest run: from the daemon where one runs, else from the project's files."""
    daemon = client(ctx)
    ran = partial(daemon.read, RunStatus, "/api/pipelines/run")
    told = unless_absent(
        lambda: (daemon.read(list[api.Pipeline], "/api/pipelines"), unless_absent(ran, {Code.NOT_FOUND}))
    )
    if told is None:
        from hub.actors.pipelines.answers import shown
        from hub.cli.beforehand import last_run_of, pipelines_of

        project = project_dir(ctx)
        told = shown(pipelines_of(project)), last_run_of(project)
    found, last = told
    return [
        PipelineAndRun(
            **attrs.asdict(item, recurse=False), run=last if last and last.name == item.name else None
        )
        for item in found
    ]


def _listed(found: Sequence[PipelineAndRun]) -> str:
    """One row a pipeline; only the newest run is on record, so one row at most has a run."""
    clock = Clock()
    rows = [(item.name, ", ".join(node.id for node in item.nodes), _ran(item.run, clock)) for item in found]
    return table(("PIPELINE", "NODES", "NEWEST RUN"), rows) if rows else _NONE


def _ran(last: RunStatus | None, clock: Clock) -> str:
    if last is None:
        return ""
    since = last.ended_at or last.started_at
    return f"{last.state} {'at' if last.ended_at else 'since'} {clock.at(since)}" if since else last.state


def _pictures(chosen: Sequence[PipelineAndRun]) -> str:
    blocks = []
    for item in chosen:
        ran = {node.id: node for node in item.run.nodes} if item.run else {}
        state = f"  {item.run.state}" if item.run else ""
        nodes = [ran.get(node.id, node) for node in item.nodes]
        blocks.append(click.style(item.name, bold=True) + state + "\n" + picture(nodes))
    return "\n\n".join(blocks) or _NONE


def picture(shown: Sequence[Node | NodeStatus]) -> str:
    """The graph, one row a node: mark, id, state, who, branch; of one that never ran its plan."""
    from hub.cli.terminal.dag import picture as draw
    from hub.cli.terminal.dag import plain
    from hub.domain.pipeline.graph import order

    nodes = {node.id: node for node in shown}
    graph = [PipelineNode(name, "x", "x", tuple(node.depends_on)) for name, node in nodes.items()]
    wide = max((len(name) for name in nodes), default=0)
    about = {name: _about(node) for name, node in nodes.items()}
    room = max(_ABOUT, *map(len, about.values())) if about else 0
    labels = {
        name: (_MARKS[_state(node)], _label(node, wide, f"{about[name]:<{room}}"))
        for name, node in nodes.items()
    }
    rows = draw(order(graph), {node.id: node.depends_on for node in graph}, labels)
    if not _shows(sys.stdout.encoding):
        rows = [plain(row) for row in rows]
    return "\n".join(rows)


def _shows(encoding: str | None) -> bool:
    try:
        "●─".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _state(node: Node | NodeStatus) -> str:
    return node.state if isinstance(node, NodeStatus) else ""


def _about(node: Node | NodeStatus) -> str:
    """Who, and what the acceptance commands said."""
    if isinstance(node, Node) or node.state is not NodeState.COMPLETED or node.verified is None:
        return node.provider
    return f"{node.provider}, {'verified' if node.verified else 'not verified'}"


def _label(node: Node | NodeStatus, wide: int, about: str) -> str:
    state, branch = _state(node), ""
    if isinstance(node, NodeStatus):
        state, branch = (node.how if node.how is NodeOutcome.REPLAYED else state), node.branch
    words = f"{node.id:<{wide}}  {state:<9}  {about}  {branch}".rstrip()
    sure = isinstance(node, NodeStatus) and bool(node.verified)
    return click.style(words, fg=_colour(_state(node), sure=sure))


def _colour(state: str, *, sure: bool) -> str | None:
    """What is done and was not verified is no success yet."""
    return "yellow" if state == "completed" and not sure else _COLOURS.get(state)
