"""The pipelines' page: each as a tree, and the last run with a bar for each node.

Owns: the drawing of a graph as a tree, the bars on one line of time, and the question before a run.
Must not: judge a graph, or carry a run.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType

from hub.api.pipelines import Node, NodeStatus, Pipeline, RunOrder, RunStarted, RunStatus
from hub.domain.standing import words
from hub.domain.text.figures import span
from hub.domain.wallclock import local
from hub.errors import Code, HubError
from hub.tui.dialogs import Confirm
from hub.tui.look import Look
from hub.tui.page import Page, cut
from hub.tui.rows import Piece, Row, Rows, row

_LOOKS = {"completed": "good", "failed": "bad", "stopped": "warn", "running": "info", "starting": "info"}
_START = 130.0
_AGAIN = 5.0
"""Seconds after which a run that goes on is drawn again."""


class PipelinesPage(Page):
    """Every pipeline."""

    NAME = "pipelines"
    OF_ROW = frozenset({"go"})
    ON = frozenset({"system", "handoff", "error", "waiting"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "go", "Run", tooltip="Run this pipeline"),
    ]

    run_status: RunStatus | None = None

    def on_mount(self) -> None:
        """The bars of a run that goes on grow with the clock."""
        super().on_mount()
        self._growing = self.set_interval(_AGAIN, self.reload, pause=True)

    @property
    def _goes_on(self) -> bool:
        """Whether one runs: until that has ended none can be run."""
        return self.run_status is not None and self.run_status.ended_at is None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """One at a time."""
        return False if action == "go" and self._goes_on else super().check_action(action, parameters)

    async def load(self) -> None:
        """The list, and the run that goes on or was the last."""
        found = await self.hub.daemon.get(list[Pipeline], "/api/pipelines")
        try:
            self.run_status = await self.hub.daemon.get(RunStatus, "/api/pipelines/run")
        except HubError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            self.run_status = None
        state = self.run_status
        self._growing.resume() if self._goes_on and self.is_current else self._growing.pause()
        self.refresh_bindings()
        self.heading("Pipelines" if state is None else f"Pipelines  {state.name}: {_of_run(state)[0]}")
        lines = list(rows_of(found, state, self.now, self.size.width, self.look))
        none = "no pipeline yet: a graph of tasks, each with agents and checks of its own"
        next_step = "[[pipelines]] in hub.toml makes one; so does the web page (hub open)"
        self.query_one(Rows).show(lines or [row(none), row((next_step, "dim"))])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """The session of a node."""
        name, _, node = event.key.partition("\n")
        state = self.run_status
        if state is not None and state.name == name:
            session = next((one.session_id for one in state.nodes if one.id == node), "")
            if session:
                self.hub.open_session(session)
                return
        run = "" if self._goes_on else "n runs it; "
        self.say("No session has worked on this yet." if node else f"{run}enter on a node shows its session.")

    def action_go(self) -> None:
        """Run the pipeline that the cursor is in."""
        self.order(self._go(self.at.partition("\n")[0]))

    async def _go(self, name: str) -> None:
        if await self.app.push_screen_wait(Confirm(f"Run the pipeline {name}?")):
            await self.hub.daemon.post(RunStarted, "/api/pipelines/run", RunOrder(name=name), patience=_START)


def rows_of(
    found: list[Pipeline], state: RunStatus | None, now: float, width: int, look: Look
) -> Iterator[Row]:
    """Each pipeline as a tree; the one that ran last has bars."""
    for one in found:
        run = state if state is not None and state.name == one.name else None
        nodes = {node.id: node for node in run.nodes} if run is not None else {}
        yield row(
            (one.name, "head"), *((("  ", ""), _of_run(run)) if run is not None else ()), key=f"{one.name}\n"
        )
        bars = _bars(run, now, max(8, width - 69), look)
        for stem, name, again in tree([(node.id, list(node.depends_on)) for node in one.nodes], look):
            task = next(node for node in one.nodes if node.id == name)
            if again:
                yield row((stem, "dim"), (f"{name} (above)", "dim"))
                continue
            yield _node(stem, task, of=one.name, status=nodes.get(name), bar=bars.get(name, ""), look=look)
        yield row("")


def _node(stem: str, node: Node, *, of: str, status: NodeStatus | None, bar: str, look: Look) -> Row:
    state = str(status.state) if status is not None else ""
    told, style = _stands(state, sure=status is not None and bool(status.verified))
    marks = {"completed": look.good, "failed": look.bad, "running": look.works, "starting": look.works}
    who = status.provider if status is not None and status.provider else node.provider
    said = told or cut(node.task, 30)
    return row(
        (stem, "dim"),
        (f"{marks.get(state, look.waits)} ", style),
        f"{cut(node.id, 16):<{max(1, 22 - len(stem))}}",
        (f"{cut(who, 13):<14}", "dim"),
        (f"{said:<18} ", style),
        (bar, style),
        key=f"{of}\n{node.id}",
    )


def _stands(state: str, *, sure: bool) -> Piece:
    """A state in words, and how these look; what is done and was not verified is a warning."""
    if not state:
        return "", "dim"
    told = words(state=state, verified=sure)
    return told, "warn" if state == "completed" and not sure else _LOOKS.get(state, "dim")


def _of_run(run: RunStatus) -> Piece:
    return _stands(str(run.state), sure=all(node.verified for node in run.nodes))


def tree(nodes: list[tuple[str, list[str]]], look: Look) -> Iterator[tuple[str, str, bool]]:
    """A graph as a tree: each node below the first that it waits for; named again below the others.

    Gives the stem in front of it, its name, and whether it was drawn before.
    """
    children: dict[str, list[str]] = {name: [] for name, _ in nodes}
    for name, waits_for in nodes:
        for other in waits_for:
            children.get(other, []).append(name)
    drawn: set[str] = set()

    def below(name: str, trunk: str) -> Iterator[tuple[str, str, bool]]:
        kids = children[name]
        for at, kid in enumerate(kids):
            last = at == len(kids) - 1
            again = kid in drawn
            yield trunk + (look.last if last else look.branch) + " ", kid, again
            if not again:
                drawn.add(kid)
                yield from below(kid, trunk + ("   " if last else f"{look.trunk} "))

    for name, waits_for in nodes:
        if not waits_for:
            drawn.add(name)
            yield " ", name, False
            yield from below(name, " ")


def _bars(run: RunStatus | None, now: float, cells: int, look: Look) -> dict[str, str]:
    """A bar for each node that has begun, all on one line of time."""
    if run is None or not run.started_at:
        return {}
    begin = local(run.started_at).timestamp()
    end = local(run.ended_at).timestamp() if run.ended_at else now
    whole = max(1.0, end - begin)
    bars = {}
    for node in run.nodes:
        if not node.started_at:
            continue
        start = local(node.started_at).timestamp()
        stop = local(node.ended_at).timestamp() if node.ended_at else end
        left = min(cells - 1, max(0, round((start - begin) * cells / whole)))
        wide = max(1, min(cells - left, round((stop - start) * cells / whole)))
        bar = " " * left + look.full * wide + " " * (cells - left - wide)
        bars[node.id] = f"{bar} {span(stop - start)}"
    return bars
