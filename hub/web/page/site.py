"""A page, made: its answers asked for, its template filled.

Owns: the templates' environment, the list of views, and what stands around each page.
Must not: know what is on any one page; its view and its template do.
Tests: tests/hub/web/page/test_mount.py
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import trio
from jinja2 import DictLoader, Environment, StrictUndefined

import hub
from hub.api.approvals import Approval
from hub.api.events import EventRecord
from hub.domain import standing
from hub.domain.event import Tag
from hub.domain.text.figures import agent_name, counted
from hub.errors import HubError
from hub.web.codec import decode_query
from hub.web.page import picture, prose, words
from hub.web.page.ask import Ask, together
from hub.web.page.gantt import gantt
from hub.web.page.paths import PATHS, FoundPage
from hub.web.page.view import View
from hub.web.problem import as_hub_error

VIEWS: Mapping[str, View] = {name: import_module(f"hub.web.page.{name}").VIEW for name in PATHS}
"""Each page's, of the module of its name."""
TEMPLATES = Path(__file__).with_name("templates")
NAVIGATION = tuple((name, view.title) for name, view in VIEWS.items() if "<" not in PATHS[name])


@cache
def environment() -> Environment:
    """Everything that a template shows is escaped; a name that it was not given is a bug and is told as one.

    All of them are read at once: whatever is installed meanwhile, the pages are those of the hub that runs.
    """
    made = Environment(
        loader=DictLoader({path.name: path.read_text("utf-8") for path in TEMPLATES.iterdir()}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {**words.FILTERS, **prose.FILTERS}
    made.globals |= {
        "picture": picture,
        "gantt": gantt,
        "words_of_state": standing.words,
        "agent_name": agent_name,
        "counted": counted,
        "navigation": NAVIGATION,
        "paths": PATHS,
        "version": hub.__version__,
    }
    return made


async def page(ask: Ask, project: str, found: FoundPage, query: bytes) -> tuple[int, bytes]:
    """Its status and document."""
    async with together() as each:
        approvals = each(lambda: ask.part(list[Approval], "/api/approvals"))
        newest = each(lambda: ask.part(list[EventRecord], "/api/events", newest=1, limit=1))
    shared = {
        "project": project,
        "here": found.page,
        "waiting": len(approvals.answer or ()),
        "head": newest.answer[0].id if newest.answer else 0,
        "zone": time.strftime("%Z"),
    }
    try:
        view = VIEWS[found.page]
        given: object = decode_query(query, view.given, found.parameters)
        shown = await view.show(ask, given)
        shared |= {
            "title": view.title,
            "tags": " ".join(sorted(view.tags | {Tag.WAITING})),
            "every": view.every,
            **shown,
        }
        return 200, await _rendered(f"{found.page}.html", shared)
    except Exception as error:  # noqa: BLE001  # the edge: what is not foreseen is logged and told as a 500
        why: HubError = as_hub_error(error)
        shared |= {"title": "Not here", "tags": "", "every": 0, "why": why}
        return why.status, await _rendered("error.html", shared)


async def _rendered(template: str, shown: Mapping[str, object]) -> bytes:
    """In a thread: nobody waits for a large page but who asked for it."""
    return await trio.to_thread.run_sync(lambda: environment().get_template(template).render(shown).encode())
