"""Audit and redactions: the newest records of the chain, its head, and how many secrets were hidden in which session.

Owns: how `<kind>:<count>` pairs are read, and of how many sessions they are asked for.
Must not: check the chain; `hub audit verify` does, with the key and without the daemon.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import attrs

from hub.api.history import HistoryEntry
from hub.api.meta import MAX_SAFE_INTEGER, Meta
from hub.api.observability import AuditHead, Redactions
from hub.api.sessions import Session, Sessions
from hub.web.page.ask import Ask, Failed, together
from hub.web.page.view import ALL, View

SHOWN = 200
SESSIONS = 8
"""The newest, of which it is told what was hidden: each is asked by itself."""


@attrs.frozen(kw_only=True)
class AuditPageQuery:
    """Which records: of one event, before one of them."""

    event: Annotated[str, Meta(max_length=64, pattern=r"^[A-Za-z0-9_.]*$(?!\n)")] = ""
    cursor: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)] | None = None


async def show(ask: Ask, given: AuditPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    before = {} if given.cursor is None else {"cursor": given.cursor}
    async with together() as each:
        head = each(lambda: ask.part(AuditHead, "/api/audit/head"))
        hidden = each(lambda: _hidden(ask))
        found = each(
            lambda: ask(list[HistoryEntry], "/api/history", limit=SHOWN, event=given.event, **before)
        )
    records = found.answer
    return {
        "chain": head.answer,
        "hidden": hidden.answer,
        "sessions": SESSIONS,
        "records": records[::-1],
        "records_kinds": sorted({one.event for one in records}),
        "earlier": records[0].seq if len(records) == SHOWN else None,
        "event": given.event,
    }


async def _hidden(ask: Ask) -> list[tuple[Session, list[tuple[str, int]]]] | Failed | None:
    """The newest sessions in which secrets were hidden, with how many of each kind; None where it may be left out."""
    if ask.briefly:
        return None
    listed = await ask.part(Sessions, "/api/sessions")
    if isinstance(listed, Failed):
        return listed
    newest = listed.sessions[: -SESSIONS - 1 : -1]
    async with together() as each:
        told = [
            each(partial(ask.maybe, Redactions, "/api/redactions", sessionId=one.session_id))
            for one in newest
        ]
    counts = [(one, each.answer) for one, each in zip(newest, told, strict=True)]
    found = [(one, pairs(counted.summary)) for one, counted in counts if counted]
    return [(one, kinds) for one, kinds in found if kinds]


def pairs(summary: str) -> list[tuple[str, int]]:
    """`aws:1 github:2` -> the kinds, the most first."""
    found = [one.rpartition(":") for one in summary.replace(",", " ").split()]
    return sorted(((kind, int(n)) for kind, _, n in found if n.isdecimal()), key=lambda pair: -pair[1])


VIEW = View(title="Audit", show=show, given=AuditPageQuery, tags=ALL)
