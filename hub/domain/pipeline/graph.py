"""Pipelines as graphs: what makes one valid, and in which order its nodes run.

Owns: the rules over a whole list of pipelines, told all at once, and the topological order.
Must not: check the shape of a single field (`hub.domain.config.model` does), or know what becomes of a node when it
runs (`hub.domain.pipeline.run` does).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import islice

from hub.domain.config.model import PipelineNode, PipelineSettings
from hub.domain.config.schema import MAX_PROBLEMS, Path, SettingProblem, invalid
from hub.domain.text.figures import first_of
from hub.errors import Code, HubError

MAX_NODES = 200
"""Nodes of one pipeline: each is a full session, one after the other."""
_SHOWN = 12
"""So many of the allowed names are listed."""


def refuse(found: Iterable[SettingProblem]) -> None:
    """Nothing where there are no problems.

    Raises:
        HubError: INVALID; its `errors` tell the first `MAX_PROBLEMS` of them. No more are looked for.
    """
    if first := list(islice(found, MAX_PROBLEMS + 1)):
        raise invalid(first)


def problems(pipelines: Sequence[PipelineSettings], providers: Collection[str]) -> Iterator[SettingProblem]:
    """Everything that is wrong with these pipelines, in the order of the list.

    Args:
        pipelines: Each with fields that validate.
        providers: The names of all providers hub knows.
    """
    names: set[str] = set()
    for index, pipeline in enumerate(pipelines):
        if pipeline.name in names:
            text = f"the name {pipeline.name!r} is used twice; each pipeline needs a name of its own"
            yield SettingProblem((index, "name"), text)
        names.add(pipeline.name)
        if len(pipeline.nodes) > MAX_NODES:
            text = f"has {len(pipeline.nodes)} nodes; at most {MAX_NODES} are allowed"
            yield SettingProblem((index, "nodes"), text)
            continue
        yield from _of_nodes(pipeline.nodes, (index, "nodes"), providers)


def _of_nodes(
    nodes: Sequence[PipelineNode], path: Path, providers: Collection[str]
) -> Iterator[SettingProblem]:
    ids = dict.fromkeys(node.id for node in nodes)
    seen: set[str] = set()
    for index, node in enumerate(nodes):
        if node.id in seen:
            text = f"the id {node.id!r} is used twice; each node of a pipeline needs an id of its own"
            yield SettingProblem((*path, index, "id"), text)
        seen.add(node.id)
        for at, name in _named(node):
            if name not in providers:
                text = f"there is no provider {name!r}; known are {_listed(providers)}"
                yield SettingProblem((*path, index, *at), text)
        for place, wanted in enumerate(node.depends_on):
            if wanted not in ids:
                text = f"there is no node {wanted!r}; the pipeline's nodes are {_listed(ids)}"
                yield SettingProblem((*path, index, "dependsOn", place), text)
    for cycle in _cycles(nodes):
        where = next(index for index, node in enumerate(nodes) if node.id == cycle[0])
        text = f"is a cycle: {' -> '.join([*cycle, cycle[0]])}; no node may wait for itself"
        yield SettingProblem((*path, where, "dependsOn"), text)


def _named(node: PipelineNode) -> Iterator[tuple[Path, str]]:
    yield ("provider",), node.provider
    for place, name in enumerate(node.fallback):
        yield ("fallback", place), name


def _listed(names: Collection[str]) -> str:
    return first_of(names, _SHOWN) or "none"


def _cycles(nodes: Sequence[PipelineNode]) -> Iterator[list[str]]:
    """Cycles that share no node, one of each knot: ids from the first one on, each waiting for the next."""
    needs: dict[str, list[str]] = {node.id: [] for node in nodes}
    for node in nodes:
        needs[node.id] += [name for name in node.depends_on if name in needs]
    while cycle := _cycle(needs):
        yield cycle
        left = needs.keys() - cycle
        needs = {
            name: [want for want in wants if want in left] for name, wants in needs.items() if name in left
        }


def _cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        found: list[str] = error.args[1][:0:-1]  # told from what is waited for; its last node is its first
        first = found.index(next(name for name in needs if name in found))
        return found[first:] + found[:first]
    return []


def order(nodes: Sequence[PipelineNode]) -> tuple[str, ...]:
    """Ids in the order in which the nodes run: each after all it depends on, else as they are listed.

    The nodes must be valid: of a cycle, or of what waits for a node that is not there, nothing is in the answer.
    """
    left = {node.id: set(node.depends_on) for node in nodes}
    done: list[str] = []
    while (free := next((name for name, wants in left.items() if not wants), None)) is not None:
        done.append(free)
        del left[free]
        for wants in left.values():
            wants.discard(free)
    return tuple(done)


_PLACE = "under [[pipelines]]"


def contradictions(
    configured: Sequence[PipelineSettings], given: Sequence[PipelineSettings]
) -> Iterator[SettingProblem]:
    """What would change or drop a pipeline of `hub.toml`, which is the user's to change."""
    known = {pipeline.name: pipeline for pipeline in configured}
    for index, pipeline in enumerate(given):
        if known.pop(pipeline.name, pipeline) != pipeline:
            yield SettingProblem(
                (index, "name"), f"{pipeline.name!r} is defined in hub.toml; change it there: {_PLACE}"
            )
    for name in known:
        yield SettingProblem(
            (), f"{name!r} is left out, and is defined in hub.toml; take it out there: {_PLACE}"
        )


def named(pipelines: Sequence[PipelineSettings], name: str) -> PipelineSettings:
    """The pipeline of that name.

    Raises:
        HubError: NOT_FOUND, with the names there are.
    """
    found = next((pipeline for pipeline in pipelines if pipeline.name == name), None)
    if found is None:
        there = _listed([pipeline.name for pipeline in pipelines])
        hint = f"There are: {there}." if pipelines else "Describe it in hub.toml, under [[pipelines]]."
        raise HubError(Code.NOT_FOUND, f"There is no pipeline {name!r}.", hint=hint)
    return found


def check_runnable(pipeline: PipelineSettings, providers: Collection[str]) -> None:
    """Refuse a pipeline that cannot run now.

    Raises:
        HubError: INVALID with every problem.
    """
    if not pipeline.nodes:
        raise invalid([SettingProblem(("nodes",), f"{pipeline.name!r} has no nodes; it needs at least one")])
    refuse(SettingProblem(problem.path[1:], problem.text) for problem in problems([pipeline], providers))
