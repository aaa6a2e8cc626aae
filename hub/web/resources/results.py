"""The result of a session: taken, discarded, cleaned away.

Owns: the routes, who may be asked about which session, and what the audit log is told.
Must not: make a commit or remove a branch itself (`hub.io.git` does), or describe a body or an answer.
Tests: tests/hub/cli/commands/test_result.py
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import attrs
import trio

from hub.api.results import Clean, Cleaned, Discard, Discarded, How, Kept, Take, Taken
from hub.api.sessions import Session
from hub.domain.result.message import CommitStory, signed, workers
from hub.domain.session import SessionRecord, several_meant
from hub.errors import Code, HubError
from hub.io.git.discarding import Hands, Left, discard, left_of
from hub.io.git.taking import take
from hub.messages.audit import AuditAppend, AuditEntry
from hub.messages.session import GetSessionFacts, GetSessions
from hub.messages.settings import GetConfig
from hub.providers.registry import load_all
from hub.web.context import WRITE, Context
from hub.web.route import post

_PATIENCE, _PAUSE = 10.0, 0.05
"""Seconds for an end to be told, and between two looks."""


async def _ended(context: Context, session_id: str) -> SessionRecord:
    """A session that is over; the newest where none is named and no more than one works.

    Raises:
        HubError: `no_active_session` where there is none, `not_found`, `which_session`, `session_already_running`.
    """
    if not session_id:
        rows = (await context.call(GetSessions(), timeout=WRITE)).sessions
        over = [row.session_id for row in rows if row.ended_at and not row.run_id]
        if over and sum(not row.ended_at and not row.position for row in rows) > 1:
            raise several_meant(over)
    facts = await context.call(GetSessionFacts(session_id))
    with trio.move_on_after(_PATIENCE):
        # Over, but that is not told to the audit log yet: after its end, and whenever an old one is asked for again.
        while facts.session_id and not facts.active and not facts.closed:
            await trio.sleep(_PAUSE)
            facts = await context.call(GetSessionFacts(session_id))
    if not facts.session_id:
        raise HubError(Code.NO_ACTIVE_SESSION, "No session has run yet.")
    run_id = facts.record.run_id
    if facts.active or not facts.closed or run_id:
        what = "its pipeline still runs" if run_id and not facts.active else "it still runs"
        raise HubError(
            Code.SESSION_ALREADY_RUNNING,
            f"{facts.session_id} cannot be taken or discarded: {what}.",
            hint="Wait for its end: hub logs -f   Or end it: hub stop",
        )
    return facts.record


async def _told(context: Context, record: SessionRecord) -> CommitStory:
    config = await context.call(GetConfig())
    providers = load_all(lambda: config)
    told = CommitStory(
        session_id=record.session_id,
        task=record.task,
        agents=workers(record),
        verified=record.verified,
        verify=tuple(map(context.hide, record.verify)),
    )
    return signed(told, config, lambda name: providers[name].display_name if name in providers else name)


async def take_result(context: Context, body: Take) -> Taken:
    """Intent and evidence are refs of the session's own; the audit log is told of both."""
    record = await _ended(context, body.session_id)
    told = await _told(context, record)
    async with context.checkout:
        await _note(context, "take_begun", record.session_id, how=str(body.how))
        main = record.main_branch or record.base
        try:
            answer = await take(context.places.root, told, body.how, body.branch, main)
        except HubError as error:
            match error.extra:  # it was brought before, by a call that was cut off
                case {"commit": str(commit), "branch": str(branch)}:
                    await _took(context, body.how, record.session_id, commit, branch)
            raise
        await _took(context, body.how, record.session_id, answer.commit, answer.branch)
    said = record.verified if record.verify else None
    # Names of files are an agent's words.
    return attrs.evolve(answer, summary=context.hide(answer.summary), verified=said)


async def _took(context: Context, how: How, session_id: str, commit: str, branch: str) -> None:
    """Once for each commit, also where the call that brought it was killed before it was told."""
    key = f"taken:{session_id}:{commit}" if commit else ""
    await _note(context, "taken", session_id, key, how=str(how), commit=commit, branch=branch)


async def discard_work(context: Context, body: Discard) -> Discarded:
    """Worktree and branch; the snapshots stay."""
    record = await _ended(context, body.session_id)
    async with context.checkout:
        return await _discard(context, record.session_id, force=body.force)


async def _discard(context: Context, session_id: str, *, force: bool) -> Discarded:
    await _note(context, "discard_begun", session_id, force=force)
    gone = await discard(context.places.root, session_id, force=force)
    await _note(context, "discarded", session_id, branch=gone.branch, tip=gone.tip)
    return gone


async def clean(context: Context, body: Clean) -> Cleaned:
    """Every session that has ended and whose work is in its user's hands."""
    found = await context.call(GetSessions(), timeout=WRITE)
    gone, kept = list[Discarded](), list[Kept]()
    async with context.checkout:
        for row in found.sessions:
            if row.position:
                continue
            left = await left_of(context.places.root, row.session_id)
            why = _stays(row, left, body)
            if why:
                detail = _EDITED if why == "not_taken" and left.hands is Hands.EDITED else _WORDS[why]
                kept.append(Kept(session_id=row.session_id, why=why, detail=detail))
            elif left.hands is Hands.GONE:
                continue
            elif body.dry:
                would = Discarded(
                    session_id=row.session_id, branch=row.branch, worktree=row.worktree, tip=left.tip[:12]
                )
                gone.append(would)
            else:
                try:
                    gone.append(await _discard(context, row.session_id, force=body.force))
                except HubError as error:
                    kept.append(Kept(session_id=row.session_id, why="failed", detail=error.detail))
    return Cleaned(gone=gone, kept=kept)


Why = Literal["active", "not_taken", "not_merged", "too_new"]
_WORDS: dict[Why, str] = {
    "active": "it has not ended",
    "not_taken": "its result was not taken yet",
    "not_merged": "its result is not in the branch that is checked out",
    "too_new": "it ended later than that",
}
_EDITED = "its worktree has more than its snapshots"


def _stays(row: Session, left: Left, body: Clean) -> Why | None:
    """Why a session's work stays; None where it may go."""
    if not row.ended_at or row.run_id:
        return "active"
    if left.hands is Hands.GONE:
        return None
    age = (datetime.now(UTC) - datetime.fromisoformat(row.ended_at)).total_seconds()
    if body.older is not None and age < body.older:
        return "too_new"
    if left.hands.lost and not body.force:
        return "not_taken"
    return "not_merged" if body.merged and not left.here else None


async def _note(context: Context, event: str, session_id: str, key: str = "", **data: str | bool) -> None:
    await context.call(
        AuditAppend([AuditEntry(event, {"sessionId": session_id, **data}, key)]), timeout=WRITE
    )


_WHICH = frozenset({Code.NO_ACTIVE_SESSION, Code.NOT_FOUND, Code.WHICH_SESSION, Code.SESSION_ALREADY_RUNNING})
_GIT = frozenset({Code.UNCOMMITTED, Code.GIT_FAILED, Code.WORKTREE_TAMPERED})
ROUTES = (
    post(
        "/api/session/take",
        "Take the result: as one commit, a merge, a branch or a patch.",
        take_result,
        codes=_WHICH
        | _GIT
        | {
            Code.NOTHING_TO_TAKE,
            Code.MERGE_CONFLICT,
            Code.BRANCH_MISSING,
            Code.TRACKED,
            Code.NO_COMMIT,
            Code.USAGE,
        },
    ),
    post(
        "/api/session/discard",
        "Take away the session's worktree and branch; its snapshots stay.",
        discard_work,
        codes=_WHICH | _GIT | {Code.NOT_TAKEN},
    ),
    post(
        "/api/sessions/clean", "The same for every session that has ended and whose result was taken.", clean
    ),
)
