"""The time machine: history, snapshot commits, their diffs, rewind.

Owns: the shapes of those resources, and the only form of a commit name that is let through.
Must not: run git.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from hub.domain.jsonvalue import JsonArray, JsonObject
from hub.errors import Code
from hub.io import git
from hub.messages import AuditAppend, AuditEntry, AuditHistory
from hub.web.context import READ, WRITE, Context
from hub.web.route import NoQuery, get, post
from hub.web.schema import MAX_SAFE_INTEGER, Answer, Body, Done, Query, Sha, Timestamp

_NEWEST = 1000


class HistoryQuery(Query, frozen=True, kw_only=True):
    """Which part of the history: without any of these the newest 1,000 records, and all handoffs before them."""

    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many, the newest; 1,000.")] | None = (
        None
    )
    cursor: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=MAX_SAFE_INTEGER,
                description="Only records older than this `seq`: that of a page's first entry gives the page before it.",
            ),
        ]
        | None
    ) = None
    event: Annotated[
        str,
        Meta(max_length=64, pattern=r"^[A-Za-z0-9_.]*$(?!\n)", description="Only records of this event."),
    ] = ""


class HistoryEntry(Answer, frozen=True, kw_only=True):
    """One record of the audit log."""

    seq: int
    ts: Timestamp
    event: str
    provider: str
    summary: str
    exitCode: int | None = None  # noqa: N815  # the API's name
    """Of an acceptance command; null where none ended."""
    hfs: int | Literal["pending"] | None = None
    """The score of the handoff that this record ends; null for any other record, and where it could not be known."""


class Commit(Answer, frozen=True, kw_only=True):
    """One snapshot."""

    sha: str
    short: str
    subject: str
    when: str


class DiffQuery(Query, frozen=True, kw_only=True):
    """Which snapshot."""

    sha: Sha


class CommitDiff(Answer, frozen=True, kw_only=True):
    """What one snapshot changed."""

    sha: str
    diff: str


class Rewind(Body, frozen=True, kw_only=True):
    """Where to go back to."""

    sha: Sha


class Rewound(Done, frozen=True, kw_only=True):
    """The branch that was made; nothing else moved."""

    branch: str
    sha: str


async def history(context: Context, query: HistoryQuery) -> JsonArray:
    """No number of other records puts a handoff out of sight."""
    plain = query.limit is None and query.cursor is None and not query.event
    order = AuditHistory(query.limit or _NEWEST, query.cursor, query.event, plain)
    return await context.call(order, timeout=WRITE)


async def commits(context: Context, _: NoQuery) -> JsonArray:
    """Of every session."""
    return [{**entry} for entry in await git.snapshots(context.places.root, None)]


async def diff(context: Context, query: DiffQuery) -> JsonObject:
    """Of one snapshot alone: git's other names are not found."""
    return {"sha": query.sha, **await git.commit_diff(context.places.root, query.sha)}


async def rewind(context: Context, body: Rewind) -> JsonObject:
    """A new branch; nothing else moves."""
    branch = await git.rewind(context.places.root, body.sha)
    entry = AuditEntry("rewind", {"branch": branch, "sha": body.sha})
    await context.call(AuditAppend([entry]), timeout=READ)
    return {"branch": branch, "sha": body.sha}


_UNKNOWN = frozenset({Code.NOT_FOUND})

ROUTES = (
    get(
        "/api/history",
        "A page of the audit log, oldest first; no number of other records puts a handoff out of sight.",
        history,
        answer=list[HistoryEntry],
        query=HistoryQuery,
    ),
    get("/api/history/commits", "The snapshot commits.", commits, answer=list[Commit], foreign=True),
    get(
        "/api/history/diff",
        "What one snapshot changed.",
        diff,
        answer=CommitDiff,
        query=DiffQuery,
        codes=_UNKNOWN,
        foreign=True,
    ),
    post(
        "/api/history/rewind",
        "Make a branch at a snapshot; current work is not touched.",
        rewind,
        body=Rewind,
        answer=Rewound,
        codes=_UNKNOWN | {Code.GIT_FAILED},
    ),
)
