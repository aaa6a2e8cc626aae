"""What agents do and say, as parts of the knowledge graph: a fold over the event log.

Owns: which event makes which nodes and edges, and what must be remembered between two events.
Must not: store anything, or judge by rules of its own: what counts as a statement, a failure or a finished step is
what counts in a contract (`statements`, `activity`, `plan`), so graph and contract say the same.

The fold's whole memory is one value, `Pending`. Who keeps it together with the id of the last event can go on after
any end as if there had been none: no event is missed and none counts twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import attrs

from hub.domain.event import Record, Tag
from hub.domain.graph.vocabulary import Edge, EdgeType, Node, NodeType, Part, fact_id, file_id, task_id
from hub.domain.intent.activity import MAX_TEXT, Activity, Calls, failure_text, read
from hub.domain.intent.fold import order_text
from hub.domain.intent.plan import Plan
from hub.domain.intent.statements import Kind, statements

MAX_MENTIONS = 20
"""Files that one statement is taken to mention, at most."""

_KINDS = {
    Kind.DECISION: NodeType.DECISION,
    Kind.CONSTRAINT: NodeType.CONSTRAINT,
    Kind.DO_NOT_REDO: NodeType.DO_NOT_REDO,
}
_PATH = re.compile(
    r"(?<![\w./:-])(?:[\w.-]+/)+[\w-]+(?:\.\w+)*\.\w{1,8}|(?<![\w./:-])[\w-]+\.(?:py|rs|go|ts|tsx|js|jsx|rb|java|toml|json|md|sql|sh|c|h|cpp|css|html|ya?ml)\b"
)


@attrs.frozen
class Pending:
    """What the events so far leave open: the fold's whole memory."""

    session_id: str = ""
    calls: tuple[Activity, ...] = ()
    """Tool calls without a result, oldest first."""
    streamed: str = ""
    """Text that comes in pieces, as far as it has come."""
    streamed_id: int = 0
    plan: Plan = attrs.field(factory=Plan)


class ActivityFold:
    """Turns events into parts of the graph.

    Args:
        worktree_of: The worktree of a session; paths below it are named relative to it.
        pending: What the last fold left.
    """

    def __init__(self, worktree_of: Callable[[str], str], pending: Pending | None = None) -> None:
        self._worktree_of = worktree_of
        self._begin(pending or Pending())

    def _begin(self, pending: Pending) -> None:
        self._session = pending.session_id
        self._root = self._worktree_of(pending.session_id) if pending.session_id else ""
        self._calls = Calls()
        for call in pending.calls:
            self._calls.begin(call)
        self._streamed, self._streamed_id = pending.streamed, pending.streamed_id
        self._plan = pending.plan

    @property
    def pending(self) -> Pending:
        """What the next fold must be given to go on here."""
        return Pending(self._session, self._calls.unfinished, self._streamed, self._streamed_id, self._plan)

    def feed(self, record: Record) -> Part:
        """Take in one event; each once, in the order of the log."""
        session = record.meta.get("sessionId")
        if not isinstance(session, str) or not session:
            return Part()
        told: list[Part] = []
        if session != self._session:
            told += self._flush()
            self._begin(Pending(session))
            told.append(Part((Node(task_id(session), NodeType.TASK, {}, session, 0.0),)))
        seen = read(record.id, record, self._root)
        if not seen.delta:
            told += self._flush()
        told += (
            self._hub_says(record, seen)
            if seen.by_hub and not seen.by_user
            else self._agent_does(record, seen)
        )
        return Part(
            tuple(node for part in told for node in part.nodes),
            tuple(edge for part in told for edge in part.edges),
            tuple(name for part in told for name in part.gone),
        )

    def _hub_says(self, record: Record, seen: Activity) -> Iterator[Part]:
        task = record.meta.get("task")
        if isinstance(task, str) and task and record.meta.get("taskId"):
            payload = {"goal": task, "taskId": record.meta["taskId"], "source": seen.id}
            yield Part((Node(task_id(self._session), NodeType.TASK, payload, self._session),))
            yield from self._statements(task, seen.id, by_user=True)
        if "ended" in record.meta:
            payload = {"state": record.meta["ended"], "verified": record.meta.get("verified")}
            yield Part((Node(task_id(self._session), NodeType.TASK, payload, self._session, 0.0),))

    def _agent_does(self, record: Record, seen: Activity) -> Iterator[Part]:
        if seen.plan is not None or seen.remaining is not None:
            yield from self._planned(seen)
        if seen.tag == Tag.TEXT and not seen.thinking:
            yield from self._says(seen)
        elif seen.tag == Tag.TOOL_USE:
            self._calls.begin(seen)
            yield self._called(record, seen)
        elif seen.tag == Tag.TOOL_RESULT:
            result = self._calls.complete(seen)
            yield self._ended(record, result)
        if seen.path:
            yield self._touched(seen.path, task_id(self._session))

    def _planned(self, seen: Activity) -> Iterator[Part]:
        before = set(self._plan.done)
        self._plan.take(seen.id, seen.plan, seen.remaining)
        for step in self._plan.done.keys() - before:
            yield self._fact(NodeType.DO_NOT_REDO, step, seen.id)
        gone = sorted(before - self._plan.done.keys())
        yield Part(gone=tuple(fact_id(NodeType.DO_NOT_REDO, self._session, step) for step in gone))

    def _says(self, seen: Activity) -> Iterator[Part]:
        if seen.by_user:
            yield self._fact(NodeType.CONSTRAINT, order_text(seen), seen.id)
        elif seen.delta:
            self._streamed = (self._streamed + seen.text)[:MAX_TEXT]
            self._streamed_id = seen.id
        else:
            yield from self._statements(seen.text, seen.id, by_user=False)

    def _flush(self) -> tuple[Part, ...]:
        """Streamed text is read when complete: a piece may be half a sentence, or inside a code block."""
        text, self._streamed = self._streamed, ""
        return tuple(self._statements(text, self._streamed_id, by_user=False))

    def _statements(self, text: str, source: int, *, by_user: bool) -> Iterator[Part]:
        for found in statements(text, by_user=by_user):
            if found.kind in _KINDS:
                yield self._fact(_KINDS[found.kind], found.text, source)

    def _fact(self, kind: NodeType, text: str, source: int, **more: object) -> Part:
        task, number = task_id(self._session), fact_id(kind, self._session, text)
        nodes = [Node(number, kind, {"text": text, "source": source, **more}, self._session)]
        edges = [Edge(task, number, EdgeType.HAS_FACT)]
        if kind is NodeType.CONSTRAINT:
            edges.append(Edge(number, task, EdgeType.SCOPE))
        for path in list(dict.fromkeys(_PATH.findall(text)))[:MAX_MENTIONS]:
            nodes.append(Node(file_id(path), NodeType.FILE, {"path": path}, self._session, 0.0))
            edges.append(Edge(number, file_id(path), EdgeType.MENTIONS))
        return Part(tuple(nodes), tuple(edges))

    def _called(self, record: Record, seen: Activity) -> Part:
        number = self._tool_id(record, seen, seen.id)
        payload = {
            "tool": seen.tool,
            "command": seen.command,
            "path": seen.path,
            "writes": seen.writes,
            "source": seen.id,
        }
        node = Node(number, NodeType.TOOL_USE, {k: v for k, v in payload.items() if v}, self._session)
        edges = [Edge(task_id(self._session), number, EdgeType.EMITTED)]
        if seen.path:
            edges.append(Edge(number, file_id(seen.path), EdgeType.TOUCHES))
        return Part((node,), tuple(edges))

    def _ended(self, record: Record, result: Activity) -> Part:
        """The call's node learns how it ended; a failure is a fact until the same thing works."""
        number = self._tool_id(record, result, result.call or result.id)
        payload = {"exitCode": result.exit_code, "failed": result.failed, "result": result.id}
        node = Node(number, NodeType.TOOL_USE, payload, self._session, 0.0 if result.call else 1.0)
        what = result.command or f"{result.tool} {result.path}"
        failure = fact_id(NodeType.FAILURE, self._session, what)
        text = failure_text(result) if result.failed else ""
        if not text:
            return Part((node,), gone=(failure,))
        told = {
            "text": text,
            "command": result.command,
            "tool": result.tool,
            "exitCode": result.exit_code,
            "source": result.id,
        }
        nodes = (node, Node(failure, NodeType.FAILURE, told, self._session))
        edges = (
            Edge(task_id(self._session), failure, EdgeType.HAS_FACT),
            Edge(number, failure, EdgeType.EXTRACTED),
        )
        return Part(nodes, edges)

    def _tool_id(self, record: Record, seen: Activity, source: int) -> str:
        dispatch = record.meta.get("dispatchId")
        return f"{NodeType.TOOL_USE}:{dispatch or self._session}:{seen.tool_id or source}"

    def _touched(self, path: str, by: str) -> Part:
        node = Node(file_id(path), NodeType.FILE, {"path": path, "touched": True}, self._session)
        return Part((node,), (Edge(by, node.id, EdgeType.TOUCHES),))
