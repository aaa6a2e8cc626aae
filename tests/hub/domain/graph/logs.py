"""Logs of sessions, and what a graph holds that has read them.

Owns: the making of logs, by hand and by chance, and a graph in memory that merges as the database does.
Must not: know what is to be expected of them.
"""

from __future__ import annotations

from typing import Any

import attrs
import msgspec
from hypothesis import strategies as st

from hub.domain.event import Record
from hub.domain.graph.activity import ActivityFold, Pending
from hub.domain.graph.drawn import drawn
from hub.domain.graph.vocabulary import NodeType
from hub.domain.intent.fold import Intent

SESSION = "s-1"
ROOT = "/w/s-1"
TASK = "Fix the parser. Do not touch the schema."


@attrs.define
class Log:
    """Events in order, as the log has them."""

    records: list[Record] = attrs.field(factory=list)

    def add(self, tag: str, msg: str, session: str = SESSION, **meta: object) -> Log:
        at = "2026-01-01T00:00:00.000Z"
        self.records.append(
            Record(len(self.records) + 1, "", tag, msg, {"at": at, "sessionId": session, **meta})
        )
        return self

    def began(self, task: str = TASK, session: str = SESSION) -> Log:
        return self.add("system", "session started", session, taskId="t-1", task=task)

    def says(self, text: str, **meta: object) -> Log:
        return self.add("text", text, type="text", dispatchId="d-1", **meta)

    def calls(self, tool: str, number: str = "c", **meta: object) -> Log:
        return self.add("tool_use", tool, type="tool_use", dispatchId="d-1", tool=tool, toolId=number, **meta)

    def answers(self, text: str = "", number: str = "c", **meta: object) -> Log:
        return self.add("tool_result", text, type="tool_result", dispatchId="d-1", toolId=number, **meta)

    def plans(self, plan: list[str] | None, remaining: list[str] | None) -> Log:
        lists = {"plan": plan, "tasksRemaining": remaining}
        return self.add("system", "plan", type="system", **{k: v for k, v in lists.items() if v is not None})

    def late(self, of: int, tag: str = "tool_result", **meta: object) -> Log:
        """An amendment of the event with this id."""
        told = self.records[of - 1].meta
        return self.add(
            tag, "late", type=tag, dispatchId="d-1", toolId=told.get("toolId", ""), amends=of, **meta
        )


@attrs.define
class Known:
    """What a graph that was given these parts holds."""

    nodes: dict[str, dict] = attrs.field(factory=dict)
    edges: set[tuple[str, str, str]] = attrs.field(factory=set)
    weights: dict[str, float] = attrs.field(factory=dict)
    owners: dict[str, str] = attrs.field(factory=dict)
    """The session that told of a node last."""

    def take(self, part):
        for name in part.gone:
            self.nodes.pop(name, None)
            self.weights.pop(name, None)
            self.edges = {edge for edge in self.edges if name not in edge[::2]}
        for node in part.nodes:
            told = msgspec.json.decode(msgspec.json.encode(node.payload))
            self.nodes[node.id] = merged(self.nodes.get(node.id, {"type": node.type}), told)
            self.owners[node.id] = node.session_id
            self.weights[node.id] = self.weights.get(node.id, 0) + node.weight
        self.edges |= {(edge.from_id, str(edge.type), edge.to_id) for edge in part.edges}

    def texts(self, kind: NodeType) -> set[str]:
        return {node["text"] for node in self.nodes.values() if node["type"] is kind}

    def intent(self, session: str = SESSION) -> Intent | None:
        """As it is drawn from the nodes."""
        own = (node for name, node in self.nodes.items() if self.owners[name] == session)
        return drawn(((node["type"], node) for node in own), session)

    def of(self, kind: NodeType) -> list[dict]:
        return [node for node in self.nodes.values() if node["type"] is kind]


def known(log: Log, cuts: frozenset[int] = frozenset()) -> Known:
    """The graph of a log that was read in one go, or with ends of the reader between some events."""
    found, fold = Known(), ActivityFold(lambda session: f"/w/{session}")
    for record in log.records:
        found.take(fold.feed(record))
        if record.id in cuts:
            kept = msgspec.json.encode(fold.pending)
            left = msgspec.json.decode(kept, type=tuple[Pending, ...])
            fold = ActivityFold(lambda session: f"/w/{session}", left)
    found.take(fold.outline())
    return found


def merged(before: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """RFC 7396, as `json_patch` has it: null takes a member out."""
    found = dict(before)
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name) or {}, value) if isinstance(value, dict) else value
    return found


WORDS = st.sampled_from(
    [
        "Decision: use x.", "Done: y.", "Done: a.", "We must not z.", "Next: w.", "plain", "Decision: a.py it is.",
        "Plan:\n1. a\n2. b\n3. y", "Step 1 is done.", "Now let me run make.",
    ]
)  # fmt: skip
STEPS = st.lists(st.sampled_from("abc"), max_size=3, unique=True)
LOGS = st.lists(
    st.one_of(
        st.tuples(st.just("says"), WORDS, st.booleans()),
        st.tuples(st.just("user"), WORDS),
        st.tuples(
            st.just("calls"),
            st.sampled_from(["Edit", "Bash"]),
            st.sampled_from("cd"),
            st.sampled_from(["make", "make && echo ok", "echo hi > out.txt", ""]),
        ),
        st.tuples(st.just("answers"), st.sampled_from("cd"), st.sampled_from([0, 1, None])),
        st.tuples(st.just("plans"), STEPS | st.none(), STEPS | st.none()),
        st.tuples(
            st.just("late"),
            st.integers(1, 4),
            st.just("tool_result"),
            st.fixed_dictionaries(
                {
                    "command": st.sampled_from(["make", "make && echo ok"]),
                    "exitCode": st.sampled_from([0, 1]),
                }
            ),
        ),
        st.tuples(
            st.just("late"),
            st.integers(1, 4),
            st.just("system"),
            st.fixed_dictionaries({"plan": STEPS, "tasksRemaining": STEPS}),
        ),
        st.tuples(st.just("rests")),
        st.tuples(st.just("harness"), st.sampled_from(["a", "lint"]), st.sampled_from(["m-1", "m-2", ""])),
    ),
    max_size=14,
)


def logged(steps) -> Log:
    log = Log().began()
    for step in steps:
        match step:
            case ("says", words, delta):
                log.says(words, **({"delta": True} if delta else {}))
            case ("user", words):
                log.add("text", words, role="user")
            case ("calls", tool, number, command):
                log.calls(tool, number, command=command, path=f"{ROOT}/{tool}.py", input=tool)
            case ("answers", number, code):
                log.answers("out", number, **({} if code is None else {"exitCode": code}))
            case ("late", back, tag, told):
                log.late(max(1, len(log.records) - back), tag, **told)
            case ("rests",):
                log.add("system", "done", type="result", isError=False)
            case ("harness", skill, model):
                told = {"skills": [skill], "mcps": [skill], "model": model}
                log.add("system", "init", type="system", **told)
            case ("plans", plan, remaining):
                log.plans(plan, remaining)
    return log.says("that is all")
