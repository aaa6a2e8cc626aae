"""Pipelines: each one's graph, and the run that goes on, live.

Owns: which state a node is drawn in.
Must not: judge a graph; the API says what is wrong with one.
Tests: tests/hub/web/page/test_pages.py
"""

from __future__ import annotations

import json

from hub.api.base import Nothing
from hub.api.convert import unstructure
from hub.api.pipelines import Node, NodeStatus, Pipeline, RunStatus
from hub.domain.standing import words
from hub.web.page.ask import Ask, together
from hub.web.page.dag import Box, dag
from hub.web.page.view import View

_EXAMPLE = [
    {
        "name": "example",
        "nodes": [
            {"id": "plan", "provider": "claude", "task": "Write PLAN.md."},
            {"id": "build", "provider": "codex", "task": "Do what PLAN.md says.", "dependsOn": ["plan"]},
        ],
    }
]


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        listed = each(lambda: ask(list[Pipeline], "/api/pipelines"))
        newest = each(lambda: ask.maybe(RunStatus, "/api/pipelines/run"))
    pipelines, run = listed.answer, newest.answer
    return {
        "run": run,
        "drawn_run": dag(run.name, [_ran(node) for node in run.nodes]) if run else None,
        "pipelines": [
            (one, dag(one.name, [_planned(node) for node in one.nodes]), _left(one, run or None))
            for one in pipelines
        ],
        "text": json.dumps(unstructure(pipelines) or _EXAMPLE, indent=2, ensure_ascii=False),
    }


def _left(one: Pipeline, run: RunStatus | None) -> bool:
    """Whether its last run has something left of it, as it is now."""
    if run is None or run.name != one.name:
        return False
    return not {node.id for node in one.nodes} <= {node.id for node in run.nodes if node.state == "completed"}


def _ran(node: NodeStatus) -> Box:
    href = f"/session/{node.session_id}" if node.session_id else ""
    unsure = node.state == "completed" and not node.verified
    said = words(state=node.state.value, verified=node.verified)
    return Box(node.id, tuple(node.depends_on), node.provider, node.state.value, href, said, unsure)


def _planned(node: Node) -> Box:
    return Box(node.id, tuple(node.depends_on), node.provider)


VIEW = View(title="Pipelines", show=show)
