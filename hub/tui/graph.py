"""The page that looks for code: words in, chunks out, from the knowledge graph.

Owns: the question, and how what is found is shown.
Must not: rank.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from hub.api.graph import Chunk, Graph, Scanning
from hub.domain.text.figures import counted
from hub.domain.wallclock import moment
from hub.errors import HubError
from hub.tui.dialogs import Read
from hub.tui.page import Page
from hub.tui.rows import Choices, Row, Rows, row

_LIMIT = 50
_SHOWN = 3
"""Lines of a chunk in the list."""


class GraphPage(Page):
    """Code by a question."""

    NAME = "graph"
    ON: ClassVar[frozenset[str]] = frozenset()
    DEFAULT_CSS = "GraphPage Input { height: 1; border: none; background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "ask", "Ask", key_display="/", tooltip="Words, or names as code writes them"),
        Binding("i", "index", "Index", tooltip="Bring the index of the code up to date"),
        Binding("escape", "list", "List", show=False, tooltip="To what was found"),
    ]

    found: Sequence[Chunk] = ()

    def body(self) -> ComposeResult:
        """The question, and what is found."""
        yield Input(placeholder="where is the retry delay computed?  (Enter asks, / comes back here)")
        yield Choices(id="rows")

    def on_mount(self) -> None:
        """The keys of the pages work until somebody asks."""
        super().on_mount()
        self.query_one(Rows).focus()

    async def load(self) -> None:
        """How much is known."""
        graph = await self.hub.daemon.get(Graph, "/api/graph")
        self.heading(_size(graph, self.now))

    def action_ask(self) -> None:
        """To the question."""
        self.query_one(Input).focus()

    def action_list(self) -> None:
        """To what was found."""
        self.query_one(Rows).focus()

    def action_index(self) -> None:
        """Scan the code."""
        self.order(self._index())

    async def _index(self) -> None:
        await self.hub.daemon.post(Scanning, "/api/graph/scan")
        self.say("The index is brought up to date; r shows how far it is.")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask it."""
        if event.value.strip():
            self.run_worker(self._ask(event.value.strip()), exclusive=True, group="question")

    async def _ask(self, question: str) -> None:
        try:
            self.found = await self.hub.daemon.get(
                list[Chunk], "/api/retrieval", {"q": question[:2000], "limit": _LIMIT}
            )
        except HubError as error:
            self.failed(error.detail, error.hint)
            return
        rows = self.query_one(Rows)
        rows.show(list(rows_of(self.found)) or [row(("nothing found", "dim"))])
        rows.focus()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """The whole chunk."""
        chunk = next((one for one in self.found if one.id == event.key), None)
        if chunk is not None:
            lines = [
                row((f"{chunk.start_line + at:>6} ", "dim"), line)
                for at, line in enumerate(chunk.body.split("\n"))
            ]
            self.app.push_screen(Read(f"{chunk.path}:{chunk.start_line}", lines))


def rows_of(found: Sequence[Chunk]) -> Iterator[Row]:
    """Each chunk with its first lines."""
    for one in found:
        mark = f"  {one.mark}" if one.mark else ""
        stale = "  changed since" if one.stale else ""
        yield row((f"{one.path}:{one.start_line}-{one.end_line}", "bold"), (mark + stale, "warn"), key=one.id)
        for line in one.body.split("\n")[:_SHOWN]:
            yield row(f"    {line}")


def _size(graph: Graph, now: float) -> str:
    as_of = f"as of {moment(graph.scanned_at, now)}" if graph.scanned_at else "never indexed: i does it"
    code = f"{counted(graph.files, 'file')}, {counted(graph.chunks, 'chunk')}"
    return f"Graph  {code}, {graph.nodes:,} nodes; {graph.state}, {as_of}"
