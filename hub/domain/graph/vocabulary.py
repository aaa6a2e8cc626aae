"""The knowledge graph's vocabulary: what a node, an edge and a part of the graph are, and how they are named.

Owns: the node and edge types, the ids, and the nodes that code makes.
Must not: store anything, or read an event (`graph_activity` does).

An id is made from what the node stands for, never from a counter: the same fact told twice is one node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum

import attrs

from hub.domain.code.resolve import SourceFiles, outside_name, resolve
from hub.domain.code.symbol import Symbol


class NodeType(StrEnum):
    """What a node stands for. The list is open: a reader passes over a type it does not know."""

    TASK = "task"
    MODULE = "module"
    SYMBOL = "symbol"
    DECISION = "decision"
    CONSTRAINT = "constraint"
    FILE = "file"
    DO_NOT_REDO = "do_not_redo"
    TOOL_USE = "tool_use"
    FAILURE = "failure"
    COMMAND = "command"


class EdgeType(StrEnum):
    """How two nodes belong together, read from the first to the second."""

    DEFINES = "defines"
    """A module its symbol."""
    IMPORTS = "imports"
    """A module another: a file of the project, or one that is only known by its name."""
    TOUCHES = "touches"
    """A task or a tool call a file."""
    MENTIONS = "mentions"
    """A statement a file."""
    HAS_FACT = "has_fact"
    """A task what was decided, demanded, done or failed in it."""
    EXTRACTED = "extracted"
    """A tool call the fact that its result told."""
    EMITTED = "emitted"
    """A task its tool call."""
    SCOPE = "scope"
    """A constraint the task it binds."""


@attrs.define
class NewNode:
    """One node. Told again it keeps its id: payloads are merged, weights add up.

    Code has many, and a frozen one takes three times as long to make: it is not, nor is `NewEdge`. Nobody changes them.
    """

    id: str
    type: NodeType
    payload: Mapping[str, object]
    """JSON values."""
    session_id: str = ""
    """"" = of the code, which no session owns."""
    weight: float = 1.0


@attrs.define
class NewEdge:
    """One edge; there is one of a type between two nodes."""

    from_id: str
    to_id: str
    type: EdgeType
    weight: float = 1.0


@attrs.frozen
class GraphPart:
    """What is to be put into the graph, and what is to be taken out, in this order: `gone`, nodes, edges."""

    nodes: tuple[NewNode, ...] = ()
    edges: tuple[NewEdge, ...] = ()
    gone: tuple[str, ...] = ()
    """Ids of nodes that no longer hold; their edges go with them."""


OUTSIDE = "outside:"
"""What the ids of modules begin with that are none of the project's files."""
_MODULE, _SYMBOL = f"{NodeType.MODULE}:", f"{NodeType.SYMBOL}:"
"""Written out: there are tens of thousands of them, and to format an enum takes longer than all else of an id."""
WEIGHT_OF_MARK: Mapping[str | None, float] = {None: 1.0, "generated": 0.5, "vendored": 0.25}
"""What a tool wrote, and what other people wrote, counts for less than the project's own."""
WEIGHT_OF_TEST = 0.5
"""A test says the words of what it tests more often than that does itself."""


def task_id(session_id: str) -> str:
    """The node of a session's task."""
    return f"{NodeType.TASK}:{session_id}"


def file_id(path: str) -> str:
    """The node of a file that an agent touched or spoke of."""
    return f"{NodeType.FILE}:{path}"


def module_id(path: str) -> str:
    """The node of a file of code."""
    return _MODULE + path


def fact_id(kind: NodeType, session_id: str, text: str) -> str:
    """The node of a statement or failure: by its text, so that saying it again makes no second one."""
    return f"{kind}:{session_id}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def outside_id(language: str, name: str) -> str:
    """The node of a module that is none of the project's files."""
    return f"{OUTSIDE}{language}:{name}"


def import_part(path: str, language: str, names: Iterable[str], there: SourceFiles) -> GraphPart:
    """What a module imports: files of the project where the name settles which, else the module that is so called."""
    module = module_id(path)
    nodes: dict[str, NewNode] = {}
    edges: dict[str, NewEdge] = {}
    for name in names:
        targets = [module_id(target) for target in resolve(language, path, name, there)]
        if not targets and (called := outside_name(language, name)):
            outside = outside_id(language, called)
            nodes[outside] = NewNode(
                outside, NodeType.MODULE, {"name": called, "lang": language, "outside": True}
            )
            targets = [outside]
        for target in targets:
            edges[target] = NewEdge(module, target, EdgeType.IMPORTS)
    return GraphPart(tuple(nodes.values()), tuple(edges.values()))


def code_part(path: str, language: str | None, mark: str | None, symbols: Iterable[Symbol]) -> GraphPart:
    """A module, its top-level symbols, and that it defines them. A name defined twice is one symbol."""
    module, weight = module_id(path), WEIGHT_OF_MARK.get(mark, 1.0)
    lines: dict[str, list[int]] = {}
    kinds: dict[str, str] = {}
    for symbol in symbols:
        lines.setdefault(symbol.name, []).append(symbol.line)
        kinds.setdefault(symbol.name, symbol.kind)
    nodes = [
        NewNode(
            module, NodeType.MODULE, {"path": path, "lang": language or "", "mark": mark or ""}, "", weight
        )
    ]
    edges = []
    for name, found in lines.items():
        payload = {"name": name, "kind": kinds[name], "path": path, "line": found[0], "lines": found}
        symbol_id = f"{_SYMBOL}{path}#{name}"
        nodes.append(NewNode(symbol_id, NodeType.SYMBOL, payload, "", weight))
        edges.append(NewEdge(module, symbol_id, EdgeType.DEFINES))
    return GraphPart(tuple(nodes), tuple(edges))
