"""One session: what its agent does now, its tools in time, its changes, its handoffs, and the words that steer it.

Owns: which events are its stream, and how much of it is shown at once.
Must not: decide what may be done to it; the API refuses what may not.
"""

from __future__ import annotations

import json
from functools import partial

import attrs

from hub.api.approvals import Approval
from hub.api.events import EventRecord
from hub.api.history import Diff, HistoryEntry, walks
from hub.api.meta import EventId
from hub.api.session import Cost, SessionId
from hub.api.sessions import Sessions
from hub.api.status import Status
from hub.domain.result.fate import TAKES, fate, left_behind
from hub.domain.standing import ENDED
from hub.errors import Code, HubError
from hub.web.page import prose
from hub.web.page.ask import Ask, together
from hub.web.page.gantt import calls_of
from hub.web.page.stream import items, look_of, newest_plan, turns
from hub.web.page.view import ALL, View

SHOWN = 300
"""Events at once; a link leads to those before them."""
_ENDS = ("discarded", "taken")
"""What becomes of the work of a session that is over."""


@attrs.frozen(kw_only=True)
class SessionPageQuery:
    """Which session, and up to which event."""

    session_id: SessionId
    until: EventId | None = None


async def show(ask: Ask, given: SessionPageQuery) -> dict[str, object]:
    """What the session's template is filled with."""
    listed = await ask(Sessions, "/api/sessions")
    row = next((one for one in listed.sessions if one.session_id == given.session_id), None)
    if row is None:
        raise HubError(Code.NOT_FOUND, f"There is no session {given.session_id}.", hint="See the board.")
    which = {"sessionId": row.session_id}
    ended = row.session_state in ENDED
    before = {} if given.until is None else {"until": given.until}
    async with together() as each:
        status = each(lambda: ask.part(Status, "/api/status", **which))
        newest = each(
            lambda: ask.part(list[EventRecord], "/api/events", **which, **before, newest=1, limit=SHOWN)
        )
        changed = None if ask.briefly else each(lambda: ask.part(Diff, "/api/session/diff", **which))
        contract = each(lambda: ask.maybe(dict[str, object], "/api/contract", **which))
        cost = each(lambda: ask.part(Cost, "/api/session/cost", **which))
        approvals = each(lambda: ask.part(list[Approval], "/api/approvals"))
        history = each(lambda: ask.part(list[HistoryEntry], "/api/history", **which, event="handoff"))
        ends = [each(partial(_newest, ask, event, row.session_id)) for event in _ENDS] if ended else []
    diff = changed and changed.answer
    events = newest.answer or []
    shown = items(events)
    return {
        "diff": diff,
        "status": status.answer,
        "contract": contract.answer,
        "cost": cost.answer,
        "title": row.title or row.session_id,
        "session": row,
        "ended": ended,
        "became": fate(*(end.answer for end in ends)) if ended else None,
        "left_behind": left_behind(row.session_id),
        "waiting_here": [one for one in approvals.answer or () if one.session_id == row.session_id],
        "walks": walks(history.answer or ()),
        "calls": calls_of(shown),
        "contract_text": json.dumps(contract.answer, indent=1, ensure_ascii=False) if contract.answer else "",
        "turns": turns(shown)[::-1],
        "look_of": look_of,
        "plan": newest_plan(events),
        "question": next((one.msg for one in reversed(events) if one.meta.get("needsInput")), ""),
        "earlier": events[0].id - 1 if len(events) == SHOWN else None,
        "until": given.until,
        "pieces": prose.pieces(diff.diff) if diff else None,
    }


async def _newest(ask: Ask, event: str, session_id: str) -> list[HistoryEntry]:
    query = {"sessionId": session_id, "event": event, "limit": TAKES}
    return await ask(list[HistoryEntry], "/api/history", **query)


VIEW = View(title="Session", show=show, given=SessionPageQuery, tags=ALL)
