"""What agents do and say, as parts of the knowledge graph: a fold over the event log.

Owns: which event makes which nodes and edges, and what must be remembered between two events.
Must not: store anything, or judge by rules of its own: what counts as a statement, a failure or a finished step is
what the fold of a session's intent says (`IntentFold`), each item of which is a node.

The fold's whole memory is one value, `pending`. Who keeps it together with the id of the last event can go on after
any end as if there had been none: no event is missed and none counts twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import attrs
import msgspec

from hub.domain.event import Record, Tag
from hub.domain.graph.drawn import DONE_ORDER, ORDER, OUTLINE, outline
from hub.domain.graph.vocabulary import (
    EdgeType,
    GraphPart,
    NewEdge,
    NewNode,
    NodeType,
    fact_id,
    file_id,
    task_id,
)
from hub.domain.intent.activity import Activity, read
from hub.domain.intent.fold import IntentFold
from hub.domain.intent.memory import Fate, ItemChange, Memory, Section

_NOTHING = GraphPart()
_WORDS = Activity(id=0, tag=Tag.TEXT)
"""What a session said last, when it is over."""
MAX_SESSIONS = 8
"""Sessions that are gone on with; of more, the one that has told nothing for longest is taken to be over."""
MAX_MENTIONS = 20
"""Files that one statement is taken to mention, at most."""

_SAID = {
    Section.DECISION: NodeType.DECISION,
    Section.CONSTRAINT: NodeType.CONSTRAINT,
    Section.DO_NOT_REDO: NodeType.DO_NOT_REDO,
}
_PATH = re.compile(
    r"(?<![\w./:-])(?:[\w.-]+/)+[\w-]+(?:\.\w+)*\.\w{1,8}|(?<![\w./:-])[\w-]+\.(?:py|rs|go|ts|tsx|js|jsx|rb|java|toml|json|md|sql|sh|c|h|cpp|css|html|ya?ml)\b"
)


@attrs.frozen
class Pending:
    """What the events of a session so far leave open: the whole memory of its fold."""

    session_id: str
    whole: bool = False
    """Whether all of the session was read, from the task on."""
    memory: Memory = attrs.field(factory=Memory)
    done: dict[str, int] = attrs.field(factory=dict)
    """The plan's finished steps that are in the graph."""
    over: bool = False
    """Whether it has ended: what is still told of it is taken in until another session begins."""


class ActivityFold:
    """Turns events into parts of the graph, those of each session by themselves: they come between one another's.

    Args:
        worktree_of: The worktree of a session; paths below it are named relative to it.
        pending: What the last fold left.
    """

    def __init__(self, worktree_of: Callable[[str], str], pending: Iterable[Pending] = ()) -> None:
        self._worktree_of = worktree_of
        self._sessions = {one.session_id: _SessionFold(one) for one in pending}
        """By id; the one that told something last is the last."""

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What the next fold must be given to go on here."""
        return tuple(fold.pending for fold in self._sessions.values())

    def feed(self, record: Record) -> GraphPart:
        """Take in one event; each once, in the order of the log."""
        session = record.meta.get("sessionId")
        if not isinstance(session, str) or not session:
            return _NOTHING
        fold = self._sessions.pop(session, None)
        told: list[GraphPart] = []
        if fold is None:
            over = [name for name, one in self._sessions.items() if one.over]
            told += map(self._left, over)
            fold = self._begun(session, record)
            told.append(GraphPart((NewNode(task_id(session), NodeType.TASK, {}, session, 0.0),)))
        self._sessions[session] = fold
        told.append(fold.feed(record))
        if len(self._sessions) > MAX_SESSIONS:
            told.append(self._left(next(iter(self._sessions))))
        return _joined(told)

    def _left(self, session: str) -> GraphPart:
        return self._sessions.pop(session).left()

    def outline(self) -> GraphPart:
        """What of each intent is about the session as a whole, where that has changed since it was asked last."""
        return _joined([fold.outline() for fold in self._sessions.values()])

    def _begun(self, session: str, record: Record) -> _SessionFold:
        """A session that begins here is read whole; of one that goes on, or was carried in, something is missing."""
        task = record.meta.get("task", "")
        whole = "taskId" in record.meta and "type" not in record.meta and isinstance(task, str)
        intent = IntentFold(task if whole else "", self._worktree_of(session), watched=True)
        return _SessionFold(Pending(session, whole, intent.memory), intent)


class _SessionFold:
    """Turns the events of one session into parts of the graph."""

    def __init__(self, before: Pending, intent: IntentFold | None = None) -> None:
        self._session, self._whole, self._done = before.session_id, before.whole, before.done
        self.over = before.over
        self._intent = intent or IntentFold(memory=before.memory, watched=True)
        self._fed = True
        """Since its outline was asked for last."""
        self._outline: dict[str, object] = {}

    @property
    def pending(self) -> Pending:
        return Pending(self._session, self._whole, self._intent.memory, self._done, self.over)

    def feed(self, record: Record) -> GraphPart:
        self._fed = True
        seen = read(record.id, record, self._intent.memory.root)
        done = self._intent.take(seen)
        by_hub = seen.by_hub and not seen.by_user
        told = [*(self._hub_says(record, seen) if by_hub else self._agent_does(record, seen, done))]
        if self._intent.items.found or self._intent.memory.plan.done != self._done:
            told += self._changed(done, self._tool_id(record, done, done.call or done.id))
        return _joined(told)

    def outline(self) -> GraphPart:
        if not self._fed:
            return _NOTHING
        self._fed = False
        found = outline(self._intent.intent(), whole=self._whole)
        if found == self._outline:
            return _NOTHING
        self._outline = found
        payload = {OUTLINE: msgspec.to_builtins(found)}
        return GraphPart((NewNode(task_id(self._session), NodeType.TASK, payload, self._session, 0.0),))

    def left(self) -> GraphPart:
        """What was being said is said, and how it stands is kept."""
        self._intent.flush()
        self._fed = True
        return _joined([*self._changed(_WORDS, ""), self.outline()])

    def _hub_says(self, record: Record, seen: Activity) -> Iterator[GraphPart]:
        task = record.meta.get("task")
        if isinstance(task, str) and task and record.meta.get("taskId"):
            payload = {"goal": task, "taskId": record.meta["taskId"], "source": seen.id}
            yield GraphPart((NewNode(task_id(self._session), NodeType.TASK, payload, self._session),))
        if "ended" in record.meta:
            self.over = True
            payload = {"state": record.meta["ended"], "verified": record.meta.get("verified")}
            yield GraphPart((NewNode(task_id(self._session), NodeType.TASK, payload, self._session, 0.0),))

    def _agent_does(self, record: Record, seen: Activity, done: Activity) -> Iterator[GraphPart]:
        if seen.tag == Tag.TOOL_USE:
            yield self._called(record, seen)
        elif seen.tag == Tag.TOOL_RESULT:
            number = self._tool_id(record, done, done.call or done.id)
            payload = {"exitCode": done.exit_code, "failed": done.failed, "result": done.id}
            weight = 0.0 if done.call or done.amends else 1.0
            yield GraphPart((NewNode(number, NodeType.TOOL_USE, payload, self._session, weight),))

    def _called(self, record: Record, seen: Activity) -> GraphPart:
        number = self._tool_id(record, seen, seen.id)
        payload = {
            "tool": seen.tool,
            "command": seen.command,
            "path": seen.path,
            "writes": seen.writes,
            "source": seen.id,
        }
        node = NewNode(number, NodeType.TOOL_USE, {k: v for k, v in payload.items() if v}, self._session)
        edges = [NewEdge(task_id(self._session), number, EdgeType.EMITTED)]
        if seen.path:
            edges.append(NewEdge(number, file_id(seen.path), EdgeType.TOUCHES))
        return GraphPart((node,), tuple(edges))

    def _changed(self, by: Activity, number: str) -> Iterator[GraphPart]:
        """The intent's items that have changed, as nodes.

        Args:
            by: What has changed them, with all that its call told.
            number: The node of that call.
        """
        for change in self._intent.items.take():
            if change.section is Section.FILE:
                yield self._file(change)
            elif change.section in _SAID:
                yield self._said(_SAID[change.section], change)
            else:
                yield self._outcome(change, by, number)
        yield from self._finished()

    def _said(self, kind: NodeType, change: ItemChange) -> GraphPart:
        if change.fate is Fate.KEPT:
            source = self._intent.memory.said[change.section][change.key]
            return self._fact(kind, change.key, {"source": source, ORDER: change.order})
        return self._lapsed(kind, change.key)

    def _finished(self) -> Iterator[GraphPart]:
        """The plan's finished steps, where they have changed: they are not to be redone."""
        memory, before = self._intent.memory, self._done
        done, said = memory.plan.done, memory.said[Section.DO_NOT_REDO]
        if done == before:
            return
        self._done = dict(done)
        for step, source in done.items():
            if before.get(step) != source:
                memory.count += 1
                yield self._fact(NodeType.DO_NOT_REDO, step, {"done": source, DONE_ORDER: memory.count})
        for step in before.keys() - done.keys():
            if step in said:
                yield GraphPart(
                    (self._node(NodeType.DO_NOT_REDO, step, {"done": None, DONE_ORDER: None}, 0.0),)
                )
            else:
                yield GraphPart(gone=(fact_id(NodeType.DO_NOT_REDO, self._session, step),))

    def _outcome(self, change: ItemChange, result: Activity, number: str) -> GraphPart:
        """A command's newest run, and a failure until the same thing works."""
        memory = self._intent.memory
        kind = NodeType.COMMAND if change.section is Section.COMMAND else NodeType.FAILURE
        if change.fate not in (Fate.KEPT, Fate.FILLED):
            return self._lapsed(kind, change.key, undone=change.fate is Fate.GONE)
        payload: dict[str, object] = {
            "command": result.command,
            "exitCode": result.exit_code,
            "source": result.id,
        }
        if change.fate is Fate.KEPT:
            payload[ORDER] = change.order
        if kind is NodeType.COMMAND:
            payload["failed"] = result.failed
        else:
            payload |= {"text": memory.failures[change.key].text, "tool": result.tool}
        weight = 1.0 if change.fate is Fate.KEPT else 0.0
        node = self._node(kind, change.key, payload, weight)
        edges = (
            NewEdge(task_id(self._session), node.id, EdgeType.HAS_FACT),
            NewEdge(number, node.id, EdgeType.EXTRACTED),
        )
        return GraphPart((node,), edges)

    def _file(self, change: ItemChange) -> GraphPart:
        number = file_id(change.key)
        if change.fate is not Fate.KEPT:
            return GraphPart((NewNode(number, NodeType.FILE, {ORDER: None}, self._session, 0.0),))
        touched = self._intent.memory.files[change.key]
        payload = {
            "path": change.key,
            "touched": True,
            "written": touched.written,
            "source": touched.source,
            "by": self._session,
            ORDER: change.order,
        }
        node = NewNode(number, NodeType.FILE, payload, self._session)
        return GraphPart((node,), (NewEdge(task_id(self._session), number, EdgeType.TOUCHES),))

    def _fact(self, kind: NodeType, text: str, more: dict[str, object]) -> GraphPart:
        task, node = task_id(self._session), self._node(kind, text, {"text": text, **more}, 1.0)
        nodes, edges = [node], [NewEdge(task, node.id, EdgeType.HAS_FACT)]
        if kind is NodeType.CONSTRAINT:
            edges.append(NewEdge(node.id, task, EdgeType.SCOPE))
        for path in list(dict.fromkeys(_PATH.findall(text)))[:MAX_MENTIONS]:
            nodes.append(NewNode(file_id(path), NodeType.FILE, {"path": path}, self._session, 0.0))
            edges.append(NewEdge(node.id, file_id(path), EdgeType.MENTIONS))
        return GraphPart(tuple(nodes), tuple(edges))

    def _lapsed(self, kind: NodeType, key: str, *, undone: bool = False) -> GraphPart:
        """What gave way is still known; what was undone is not."""
        if undone:
            return GraphPart(gone=(fact_id(kind, self._session, key),))
        return GraphPart((self._node(kind, key, {ORDER: None}, 0.0),))

    def _node(self, kind: NodeType, key: str, payload: dict[str, object], weight: float) -> NewNode:
        return NewNode(fact_id(kind, self._session, key), kind, payload, self._session, weight)

    def _tool_id(self, record: Record, seen: Activity, source: int) -> str:
        dispatch = record.meta.get("dispatchId")
        return f"{NodeType.TOOL_USE}:{dispatch or self._session}:{seen.tool_id or source}"


def _joined(told: list[GraphPart]) -> GraphPart:
    """Several parts as one, which takes out first what no longer holds."""
    if len(told) < 2:  # noqa: PLR2004  # most events tell nothing, or one thing
        return told[0] if told else _NOTHING
    return GraphPart(
        tuple(node for part in told for node in part.nodes),
        tuple(edge for part in told for edge in part.edges),
        tuple(name for part in told for name in part.gone),
    )
