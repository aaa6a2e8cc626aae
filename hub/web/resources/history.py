"""The time machine: history, snapshot commits, their diffs, rewind.

Owns: the routes, and what is done besides one call.
Must not: describe a body or an answer; `hub.api` does.
"""

from __future__ import annotations

import attrs

from hub.api.base import Nothing
from hub.api.history import Commit, CommitDiff, DiffQuery, HistoryEntry, HistoryQuery, Rewind, Rewound
from hub.errors import Code
from hub.io.git import repository
from hub.io.git.discarding import looked_after
from hub.io.git.refs import resolve
from hub.messages.audit import AuditAppend, AuditEntry, AuditHistory
from hub.web.context import WRITE, Context
from hub.web.route import get, post

_NEWEST = 1000


async def history(context: Context, query: HistoryQuery) -> list[HistoryEntry]:
    """No number of other records puts a handoff out of sight; of a take it is said whether it still holds."""
    session_id = await context.session_meant(query.session_id)
    plain = query.limit is None and query.cursor is None and not query.event and not session_id
    order = AuditHistory(query.limit or _NEWEST, query.cursor, query.event, session_id, plain)
    found = await context.call(order, timeout=WRITE)
    return await looked_after(context.places.root, found) if query.event == "taken" and found else found


async def commits(context: Context, _: Nothing) -> list[Commit]:
    """Of every session."""
    return await repository.snapshots(context.places.root)


async def diff(context: Context, query: DiffQuery) -> CommitDiff:
    """Of one snapshot alone: git's other names are not found."""
    sha = await resolve(context.places.root, query.sha)
    return CommitDiff(sha=sha, **attrs.asdict(await repository.commit_diff(context.places.root, sha)))


async def rewind(context: Context, body: Rewind) -> Rewound:
    """A new branch; nothing else moves."""
    sha = await resolve(context.places.root, body.sha)
    await _note(context, "rewind_begun", sha=sha)
    branch = await repository.rewind(context.places.root, sha)
    await _note(context, "rewind", branch=branch, sha=sha)
    return Rewound(branch=branch, sha=sha)


async def _note(context: Context, event: str, **data: str) -> None:
    await context.call(AuditAppend([AuditEntry(event, data)]), timeout=WRITE)


_UNKNOWN = frozenset({Code.NOT_FOUND})
ROUTES = (
    get(
        "/api/history",
        "A page of the audit log, oldest first; no number of other records puts a handoff out of sight.",
        history,
    ),
    get("/api/history/commits", "The snapshot commits.", commits, foreign=True),
    get("/api/history/diff", "What one snapshot changed.", diff, codes=_UNKNOWN, foreign=True),
    post(
        "/api/history/rewind",
        "Make a branch at a snapshot; current work is not touched.",
        rewind,
        codes=_UNKNOWN | {Code.GIT_FAILED},
    ),
)
