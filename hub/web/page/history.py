"""The time machine: every snapshot, what each has changed, and a branch at any of them.

Owns: which snapshot an address means.
Must not: move anything; a rewind is a POST of the API, and makes a new branch.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.history import Commit, CommitDiff
from hub.api.meta import MAX_SAFE_INTEGER, Meta
from hub.api.sessions import Sessions
from hub.domain.standing import occasion
from hub.web.page import prose
from hub.web.page.ask import Ask
from hub.web.page.view import View


@attrs.frozen(kw_only=True)
class HistoryPageQuery:
    """Which snapshot: 1 is the oldest; left out: the newest."""

    at: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)] = 0


async def show(ask: Ask, given: HistoryPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    newest_first = await ask(list[Commit], "/api/history/commits")
    commits = newest_first[::-1]
    at = min(given.at or len(commits), len(commits))
    chosen = commits[at - 1] if commits else None
    diff = await ask.part(CommitDiff, "/api/history/diff", sha=chosen.sha) if chosen else None
    listed = await ask.part(Sessions, "/api/sessions") if chosen else None
    titles = {one.session_id: one.title for one in listed.sessions} if listed else {}
    return {
        "commits": commits,
        "at": at,
        "chosen": chosen,
        "occasion": occasion(chosen.handoff_id) if chosen else "",
        "title": titles.get(chosen.session_id, "") if chosen else "",
        "diff": diff,
        "pieces": prose.pieces(diff.diff) if diff else None,
    }


VIEW = View(title="History", show=show, given=HistoryPageQuery)
