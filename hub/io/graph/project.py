"""A look at the code of a folder, without keeping anything of it.

Owns: which folders may be looked at, and how long and how much a look may take.
Must not: write a row, or say of a folder outside of the project whether it is there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from hub.domain.code.resolve import project
from hub.domain.graph.vocabulary import Part, code_part, import_part
from hub.domain.text import NOT_IN_PATHS
from hub.errors import Code, HubError

SECONDS = 2.0
MAX_NODES = 20_000
"""Of an answer."""
_UNUSABLE = re.compile(f"[{NOT_IN_PATHS}]")


def project_graph(
    root: Path, path: str, *, seconds: float = SECONDS, most: int = MAX_NODES
) -> dict[str, Any]:
    """`{nodes, edges, truncated}`: the modules and symbols below a folder of the project, and what they import. Blocking.

    Args:
        root: The project's folder.
        path: Absolute, or relative to `root`; no link leads out of the project.
        seconds: After which the look ends, with `truncated`; what is no code takes time too.
        most: Nodes that are answered, with the edges between them; more are cut off, with `truncated`.

    Raises:
        HubError: MALFORMED for a path with control characters; NOT_FOUND for any that is no folder of the project,
            whether or not it is there.
    """
    from hub.io.code_scan import Scanned, go_modules, scan, walk  # noqa: PLC0415  # with every language; few ask

    folder = _inside(root, path)
    parts: list[Part] = []
    found: list[Scanned] = []
    listed: list[bytes] = []
    many = 0
    limit = _Limit(time.monotonic() + seconds)
    for entry in scan(folder, {}, _noting(walk(folder, limit), listed)):
        if many > most:
            break
        if isinstance(entry, Scanned):
            found.append(entry)
            parts.append(code_part(_utf8(entry.path), entry.language, entry.mark, entry.symbols))
            many += len(parts[-1].nodes)
    there = project((_utf8(each.path) for each in found), go_modules(folder, listed))
    parts += (import_part(_utf8(each.path), each.language, each.imports, there) for each in found)
    nodes = {
        n.id: {"id": n.id, "node_type": str(n.type), "payload": dict(n.payload)}
        for part in parts
        for n in part.nodes
    }
    edges = (
        {"from_id": e.from_id, "to_id": e.to_id, "edge_type": str(e.type)}
        for part in parts
        for e in part.edges
    )
    shown = [*nodes.values()][:most]
    ids = {node["id"] for node in shown}
    between = [edge for edge in edges if edge["from_id"] in ids and edge["to_id"] in ids]
    return {"nodes": shown, "edges": between, "truncated": limit.reached or len(nodes) > most}


def _noting(paths: Iterable[bytes], listed: list[bytes]) -> Iterator[bytes]:
    """Goes on with the paths, and keeps those of Go's modules, which are no source files."""
    for path in paths:
        if path.endswith(b"go.mod"):
            listed.append(path)
        yield path


@attrs.define
class _Limit:
    """Whether a time has come, and whether anybody was told so."""

    ends: float
    reached: bool = False

    def __call__(self) -> bool:
        self.reached = time.monotonic() > self.ends
        return self.reached


def _inside(root: Path, path: str) -> Path:
    if _UNUSABLE.search(path):
        raise HubError(
            Code.MALFORMED, "The path holds a control character.", hint="Send a folder of the project."
        )
    unknown = HubError(
        Code.NOT_FOUND, "That is no folder of this project.", hint="Ask for . or a folder below it."
    )
    try:
        whole, folder = root.resolve(strict=True), (root / path).resolve(strict=True)
        if not folder.is_relative_to(whole) or not folder.is_dir():
            raise unknown
    except (OSError, RuntimeError, ValueError):
        raise unknown from None
    return folder


def _utf8(path: str) -> str:
    """A name need not be UTF-8; an answer is."""
    return path.encode("utf-8", "replace").decode()
