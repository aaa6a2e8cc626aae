"""A look at the code of a folder, without keeping anything of it.

Owns: which folders may be looked at, how much a look may take, and that nothing secret is in a name that it tells.
Must not: write a row, or say of a folder outside of the project whether it is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from hub.api.graph import CodeEdge, CodeNode, ProjectGraph
from hub.domain.code.resolve import project
from hub.domain.graph.vocabulary import code_part, import_part
from hub.domain.redaction.engine import portions
from hub.domain.redaction.lines import shown
from hub.domain.text.safe import NOT_IN_PATHS
from hub.errors import Code, HubError

if TYPE_CHECKING:
    from hub.io.graph.code_scan import Scanned

MAX_NODES = 20_000
"""Of an answer."""
MAX_ENTRIES = 200_000
"""Files and folders, of whatever kind, that a look passes."""
_UNUSABLE = re.compile(f"[{NOT_IN_PATHS}]")


def project_graph(
    root: Path, path: str, hide: Callable[[str], str], *, most: int = MAX_NODES, entries: int = MAX_ENTRIES
) -> ProjectGraph:
    """The modules and symbols below a folder, and what they import. Blocking.

    Args:
        root: The project's folder.
        path: Absolute, or relative to `root`; no link leads out of the project.
        hide: Hides what is secret in a text, every line on its line.
        most: Nodes that are answered, with the edges between them; more are cut off, with `truncated`.
        entries: After so many files and folders the look ends, with `truncated`.

    Raises:
        HubError: MALFORMED for a path with control characters; NOT_FOUND for any that is no folder of the project,
            whether or not it is there.
    """
    from hub.io.graph.code_scan import go_modules, walk  # with every language; few ask

    folder = _inside(root, path)
    listed: list[bytes] = []
    limit = _Limit(2 * entries)  # asked twice for each
    found = _named(_found(folder, _noting(walk(folder, limit), listed), most), hide)
    there = project((each.path for each in found), go_modules(folder, listed))
    parts = [code_part(each.path, each.language, each.mark, each.symbols) for each in found]
    parts += (import_part(each.path, each.language, each.imports, there) for each in found)
    nodes = {n.id: n for part in parts for n in part.nodes}
    first = list(nodes.values())[:most]
    edges = [edge for part in parts for edge in part.edges]
    if len(nodes) > most:
        ids = {node.id for node in first}
        edges = [edge for edge in edges if edge.from_id in ids and edge.to_id in ids]
    reached = (
        f"{most:,} nodes" if len(nodes) > most else f"{entries:,} files and folders" if limit.reached else ""
    )
    return ProjectGraph(
        nodes=[CodeNode(id=n.id, node_type=n.type, payload=n.payload) for n in first],
        edges=[CodeEdge(from_id=e.from_id, to_id=e.to_id, edge_type=e.type) for e in edges],
        truncated=bool(reached),
        limit=reached,
    )


def _found(folder: Path, paths: Iterable[bytes], most: int) -> Iterator[Scanned]:
    """The source files, in order, until they have more nodes than are answered."""
    from hub.io.graph.code_scan import Scanned, scan  # as above

    many = 0
    for entry in scan(folder, {}, paths, chunked=False):
        if isinstance(entry, Scanned):
            yield entry
            many += 1 + len({symbol.name for symbol in entry.symbols})
            if many > most:
                return


def _named(files: Iterable[Scanned], hide: Callable[[str], str]) -> list[Scanned]:
    """The files with every name as it may be shown: UTF-8, nothing a terminal acts on, nothing secret."""
    found = list(files)
    names = dict.fromkeys(name for file in found for name in _names_of(file))  # many files import the same
    texts = (text for some in portions(map(_utf8, names)) for text in shown(some, hide))
    told = {name: text.replace("\n", " ") for name, text in zip(names, texts, strict=True)}
    changed = {name for name, text in told.items() if name != text}
    return [_renamed(file, told) for file in found] if changed else found


def _names_of(file: Scanned) -> Iterator[str]:
    yield file.path
    for symbol in file.symbols:
        yield symbol.name
    yield from file.imports


def _renamed(file: Scanned, told: Mapping[str, str]) -> Scanned:
    return attrs.evolve(
        file,
        path=told[file.path],
        symbols=[attrs.evolve(symbol, name=told[symbol.name]) for symbol in file.symbols],
        imports=[told[name] for name in file.imports],
    )


def _noting(paths: Iterable[bytes], listed: list[bytes]) -> Iterator[bytes]:
    """Goes on with the paths, and keeps those of Go's modules, which are no source files."""
    for path in paths:
        if path.endswith(b"go.mod"):
            listed.append(path)
        yield path


@attrs.define
class _Limit:
    """Whether a look has passed so many entries, and whether that has ended it."""

    left: int
    reached: bool = False

    def __call__(self) -> bool:
        self.left -= 1
        self.reached = self.left < 0
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
