"""Audit and redactions: the newest records of the chain, its head, and how many secrets were hidden.

Owns: how `<kind>:<count>` pairs are read.
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
from hub.web.page.ask import Ask, together
from hub.web.page.view import ALL, View

SHOWN = 200


@attrs.frozen(kw_only=True)
class AuditPageQuery:
    """Which records: of one event, before one of them."""

    event: Annotated[str, Meta(max_length=64, pattern=r"^[A-Za-z0-9_.]*$(?!\n)")] = ""
    cursor: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)] | None = None


async def show(ask: Ask, given: AuditPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    before = {} if given.cursor is None else {"cursor": given.cursor}
    found = await together(
        head=partial(ask.part, AuditHead, "/api/audit/head"),
        redactions=partial(ask.part, Redactions, "/api/redactions"),
        records=partial(ask, list[HistoryEntry], "/api/history", limit=SHOWN, event=given.event, **before),
    )
    records: list[HistoryEntry] = found["records"]
    return {
        "chain": found["head"],
        "redactions": found["redactions"],
        "kinds": pairs(found["redactions"].summary) if found["redactions"] else [],
        "records": records[::-1],
        "earlier": records[0].seq if len(records) == SHOWN else None,
        "event": given.event,
    }


def pairs(summary: str) -> list[tuple[str, int]]:
    """`aws:1 github:2` -> the kinds, the most first."""
    found = [one.rpartition(":") for one in summary.replace(",", " ").split()]
    return sorted(((kind, int(n)) for kind, _, n in found if n.isdecimal()), key=lambda pair: -pair[1])


VIEW = View(title="Audit", show=show, given=AuditPageQuery, tags=ALL)
