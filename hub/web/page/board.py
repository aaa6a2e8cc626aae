"""The board: which session needs somebody, how long the quota lasts, what the last handoff did.

Owns: the order of sessions for people, and which accounts are worth a bar.
Must not: compute anything that the API has not said.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import attrs

from hub.api.approvals import Approval
from hub.api.events import EventRecord
from hub.api.history import HistoryEntry, walks
from hub.api.meta import Meta
from hub.api.quota import Entry
from hub.api.sessions import Session, Sessions
from hub.domain.standing import GROUPS, OVER
from hub.web.page.ask import Ask, together
from hub.web.page.view import View

SHOWN = 20
"""Sessions that have ended, unless all are asked for."""
_BACK = 50
"""Events among which a question is looked for."""
_HANDOFFS = 60
"""Records of the timeline: the last handoffs."""


@attrs.frozen(kw_only=True)
class BoardQuery:
    """Which sessions."""

    all: Annotated[int, Meta(ge=0, le=1)] = 0


@attrs.frozen
class SessionGroup:
    """The sessions of one heading, the newest first."""

    name: str
    members: list[Session]
    count: int
    """How many there are; `members` may be fewer."""


def grouped(sessions: list[Session], *, everything: bool = False) -> list[SessionGroup]:
    """By need, without the groups that are empty."""
    found: list[list[Session]] = [[] for _ in GROUPS]
    for one in sessions[::-1]:
        found[one.group].append(one)
    most = {} if everything else {OVER: SHOWN}
    return [
        SessionGroup(name, members[: most.get(at)], len(members))
        for at, (name, members) in enumerate(zip(GROUPS, found, strict=True))
        if members
    ]


async def show(ask: Ask, given: BoardQuery) -> dict[str, object]:
    """What the board's template is filled with."""
    async with together() as each:
        listed = each(lambda: ask(Sessions, "/api/sessions"))
        wallet = each(lambda: ask.part(list[Entry], "/api/quota/wallet"))
        history = each(lambda: ask.part(list[HistoryEntry], "/api/history", event="handoff", limit=_HANDOFFS))
        approvals = each(lambda: ask.part(list[Approval], "/api/approvals"))
    sessions = listed.answer.sessions
    asking = [one.session_id for one in sessions if one.needs == "input"]
    async with together() as each:
        questions = {one: each(partial(question, ask, one)) for one in asking}
    wanted = {one.session_id: one.action for one in reversed(approvals.answer or ())}
    made = walks(history.answer or ())
    return {
        "groups": grouped(sessions, everything=bool(given.all)),
        "asked": {**wanted, **{one: asked.answer for one, asked in questions.items()}},
        "concurrent": listed.answer.concurrent,
        "wallet": wallet.answer and told(wallet.answer),
        "last": made[-1] if made else None,
    }


async def question(ask: Ask, session_id: str) -> str:
    """What its agent asks; "" where that is too long ago."""
    events = await ask.part(list[EventRecord], "/api/events", sessionId=session_id, newest=1, limit=_BACK)
    asked = [event.msg for event in events or () if event.meta.get("needsInput")]
    return asked[-1] if asked else ""


def told(wallet: list[Entry]) -> list[Entry]:
    """The accounts of which anything is known; of those that never worked nothing is worth a bar."""
    return [entry for entry in wallet if entry.windows or entry.tokens_today]


VIEW = View(title="Board", show=show, given=BoardQuery)
