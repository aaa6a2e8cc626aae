"""`hub graph`: index the code, look for code, see what is known.

Owns: the words for these, and how chunks and nodes look.
Must not: read a file, or rank what is found.
"""

from __future__ import annotations

import time

import attrs
import click

from hub.api.graph import Chunk, CodeNode, Detail, Graph, IndexState, Scanning
from hub.api.meta import UNSET, Unset
from hub.cli.base import Group
from hub.cli.context import show, with_json
from hub.cli.local.background import at_hand
from hub.cli.terminal.table import instant
from hub.client.quick import Api, Query
from hub.domain.text.figures import counted
from hub.errors import Code, HubError

_POLL = 0.25
_SHOWN_LINES = 12


@click.group(cls=Group)
def graph() -> None:
    """Search the code, and what agents have done to it.

    Example: hub graph search where is the retry delay computed
    """


@graph.command()
@click.option("--no-wait", is_flag=True, help="Do not wait until it is done.")
@with_json
def scan(ctx: click.Context, *, no_wait: bool, as_json: bool) -> None:
    """Bring the index of the code up to date; unchanged files are not read again.

    Example: hub graph scan
    """
    daemon = at_hand(ctx)
    found: Graph = daemon.order(Scanning, "/api/graph/scan")
    if not no_wait:
        found = _awaited(daemon)
        if found.state is IndexState.FAILED:
            raise HubError(
                Code.UNAVAILABLE,
                f"The code was not indexed: {found.scan.error}",
                hint="Try again, or: hub doctor",
            )
    show(found, as_json=as_json, text=_summary)


def _awaited(daemon: Api) -> Graph:
    """The graph once the scan is over; its progress goes to standard error."""
    shown = ""
    while (found := daemon.read(Graph, "/api/graph")).state is IndexState.SCANNING:
        line = f"reading the code: {counted(found.scan.files, 'file')}, {found.scan.bytes / 1e6:,.1f} MB"
        if line != shown:
            click.echo(line, err=True)
            shown = line
        time.sleep(_POLL)
    return found


@graph.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--limit",
    default=5,
    show_default=True,
    type=click.IntRange(1, 100),
    help="At most this many pieces of code.",
)
@click.option("--paths", is_flag=True, help="Show only the places, without the code.")
@with_json
def search(ctx: click.Context, *, question: tuple[str, ...], limit: int, paths: bool, as_json: bool) -> None:
    """Find the code that answers a question best: plain words, or names from the code.

    Example: hub graph search where is the retry delay computed
    """
    daemon = at_hand(ctx)
    found = daemon.read(list[Chunk], "/api/retrieval", {"q": " ".join(question), "limit": limit})
    if not found and not as_json and daemon.read(Graph, "/api/graph").state is IndexState.EMPTY:
        click.echo("The code is not indexed yet: hub graph scan", err=True)
    gap, drawn = ("\n", _place) if paths else ("\n\n", _chunk)
    show(found, as_json=as_json, text=lambda got: gap.join(map(drawn, got)) or "nothing found")


@graph.command(name="show")
@click.option(
    "--nodes", default=0, type=click.IntRange(0, 2000), help="Also show this many of the newest nodes."
)
@click.option(
    "--type", "node_type", default="", metavar="TYPE", help="Only nodes of this type: decision, file, ..."
)
@with_json
def show_(ctx: click.Context, *, nodes: int, node_type: str, as_json: bool) -> None:
    """Show how much is indexed, as of when, and what came last.

    Example: hub graph show --nodes 20 --type decision
    """
    daemon = at_hand(ctx)
    found, detail = daemon.read(Graph, "/api/graph"), None
    if nodes or node_type:
        which: Query = {"limit": nodes or 20, "type": node_type}
        detail = daemon.read(Detail, "/api/graph/detail", which)
    show(Known(**attrs.asdict(found, recurse=False), detail=detail or UNSET), as_json=as_json, text=_shown)


@attrs.frozen(kw_only=True)
class Known(Graph):
    """How much is known, and the newest of it where that was asked for."""

    detail: Detail | Unset = UNSET


def _summary(body: Graph) -> str:
    more = "; there is more code than is indexed" if body.truncated else ""
    size = f"{counted(body.nodes, 'node')}, {counted(body.edges, 'edge')}"
    code = f"{counted(body.files, 'file')} in {counted(body.chunks, 'chunk')}"
    as_of = instant(body.scanned_at, named=True) if body.scanned_at else "never (hub graph scan)"
    events = f"up to event {body.event_id}" if body.event_id else "nothing yet"
    return f"{size}; {code}{more}\nthe code: {body.state}, as of {as_of}; what agents did: {events}"


def _shown(body: Known) -> str:
    if body.detail is UNSET:
        return _summary(body)
    labels = {node.id: _label(node) for node in body.detail.nodes}
    imported: dict[str, list[str]] = {}
    for edge in body.detail.edges:
        if edge.edge_type == "imports":
            imported.setdefault(edge.from_id, []).append(labels[edge.to_id])
    rows = []
    for node in body.detail.nodes:
        rows.append(f"{instant(node.updated_at)}  {node.node_type:<12} {labels[node.id]}")
        rows += [f"    imports {label}" for label in imported.get(node.id, [])]
    return "\n".join([_summary(body), *(rows or ["no such node"])])


def _label(node: CodeNode) -> str:
    told = node.payload
    if told.get("outside"):
        return f"{told['name']} ({told['lang']}, from outside)"[:120]
    words = next(
        (str(told[key]) for key in ("text", "goal", "command", "path", "tool") if told.get(key)), node.id
    )
    return " ".join((f"{told['name']} ({words}:{told['line']})" if "name" in told else words).split())[:120]


def _place(chunk: Chunk) -> str:
    return f"{chunk.path}:{chunk.start_line}-{chunk.end_line}{' (changed since)' if chunk.stale else ''}"


def _chunk(chunk: Chunk) -> str:
    lines = chunk.body.splitlines()
    rest = [f"  ... {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
    return "\n".join(
        [click.style(_place(chunk), bold=True), *(f"  {line}" for line in lines[:_SHOWN_LINES]), *rest]
    )
