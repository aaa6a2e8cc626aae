"""What a user wants to hear of while he looks elsewhere.

Owns: which events are such news, and how they are said.
Must not: tell anybody, or know a secret: the events it is made of have none.
"""

from __future__ import annotations

from enum import StrEnum

import attrs

from hub.domain.event import Record, Tag
from hub.domain.handoff import State, Trigger
from hub.domain.quota.spoken import spoken
from hub.domain.text.figures import agent_of
from hub.domain.text.quoted import line
from hub.domain.wallclock import respoken

_TEXT = 240


class News(StrEnum):
    """The kinds of `[notify] on`."""

    NEEDS = "needs"
    """An agent waits for an answer, or something for the user's word."""
    DONE = "done"
    FAILED = "failed"
    WALL = "wall"
    """The work is handed over, at a limit or because its checks fail, or it waits for a reset."""


_TITLES = {
    News.NEEDS: "hub needs you",
    News.DONE: "hub: done",
    News.FAILED: "hub: failed",
    News.WALL: "hub: waiting",
}
_HANDING_OVER = "hub: handing over"
"""In place of that where somebody goes on: its reason may be a limit, or a check that fails."""


@attrs.frozen
class Notice:
    """One piece of news; both texts are one line."""

    news: News
    session_id: str
    title: str
    text: str


def notice_of(record: Record) -> Notice | None:
    """The news in an event; None in most."""
    news = _news(record)
    if news is None:
        return None
    text = respoken(spoken(_words(record)), lambda at: f"{at:%Y-%m-%d %H:%M}")
    text = line(text, _TEXT)
    title = _HANDING_OVER if record.tag == Tag.HANDOFF else _TITLES[news]
    return Notice(news, record.meta.get("sessionId", ""), title, text)


def _words(record: Record) -> str:
    """What happened; of an end first of which task, of a wait until when, for little room may be left for why."""
    meta = record.meta
    if meta.get("ended"):
        return f"{meta.get('task', '')}: {meta.get('why') or record.msg}"
    if record.tag == Tag.HANDOFF:
        who = agent_of(meta)
        return f"{who}: {meta.get('reason', '')}; handing over"
    if meta.get("until"):
        return f"waiting until {meta['until']}: {record.msg.partition('; waiting ')[0]}"
    return record.msg


def _news(record: Record) -> News | None:
    meta = record.meta
    if meta.get("ended") and "type" not in meta:  # hub's own word, no agent's
        return {"completed": News.DONE, "failed": News.FAILED}.get(meta["ended"])
    if meta.get("needsApproval") or meta.get("needsInput"):
        return News.NEEDS
    if record.tag == Tag.HANDOFF and meta.get("to") == State.PAUSING:
        manual = meta.get("by") == Trigger.MANUAL_HANDOFF
        return None if manual else News.WALL
    if record.tag == Tag.WAITING and meta.get("until") and "type" not in meta:
        return News.WALL
    return None
