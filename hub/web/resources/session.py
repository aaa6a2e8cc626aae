"""Session control: run, handoff, pause, reply, stop, diff, cost.

Owns: the routes, and what is done besides one call.
Must not: decide whether a session may start, or anything else about one.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from hub.api.history import Diff
from hub.api.meta import UNSET
from hub.api.session import (
    Cost,
    HandingOver,
    Pause,
    Paused,
    Replied,
    Run,
    Started,
    Stopped,
    TextReply,
    Which,
)
from hub.api.sessions import Sessions
from hub.domain.session import several_meant
from hub.errors import Code, HubError
from hub.io.git import repository
from hub.messages.pipelines import StopPipeline
from hub.messages.session import (
    GetCost,
    GetInUse,
    GetSessionFacts,
    GetSessions,
    RequestHandoff,
    RequestPause,
    RequestReply,
    RequestStop,
    StartRun,
)
from hub.web.context import BEGIN, WRITE, Context, call
from hub.web.route import get, post
from supervisors import ActorDied

_STOP_TIMEOUT = 300.0


async def run(context: Context, body: Run) -> Started:
    """What is left out is as configured."""
    await context.insist(body.trust)
    order = StartRun(
        task=body.task,
        threshold=None if body.threshold is UNSET else body.threshold,
        max_handoffs=None if body.max_handoffs is UNSET else body.max_handoffs,
        provider=body.provider,
        profile=body.profile,
        kind=body.kind,
        verify=None if body.verify is None else tuple(body.verify),
        on_limit=None if body.on_limit is UNSET else body.on_limit.value,
        session_id=body.session_id,
        continues=body.continues,
        queue=body.queue,
    )
    return await context.call(order, timeout=BEGIN)


async def stop(context: Context, body: Which) -> Stopped:
    """And with it the pipeline run it may be a node of; a run that is just restarting hears of it from its session."""
    active = [] if body.session_id else await context.call(GetInUse())
    if len({facts.record.run_id for facts in active}) > 1:
        raise several_meant([facts.session_id for facts in active])
    if not body.session_id:
        with contextlib.suppress(ActorDied):
            run = await context.call(StopPipeline(), timeout=_STOP_TIMEOUT)
            if run is not None:
                return Stopped(run_id=run.run_id, state=run.state)
    return await context.call(RequestStop(session_id=body.session_id), timeout=_STOP_TIMEOUT)


async def diff(context: Context, which: Which) -> Diff:
    """With what is in no snapshot yet while it works."""
    facts = await context.call(GetSessionFacts(which.session_id))
    if not facts.session_id:
        raise HubError(Code.NO_ACTIVE_SESSION)
    record = facts.record
    main = record.main_branch or record.base
    worktree = Path(record.worktree) if facts.active and record.worktree_ready else None
    try:
        return await repository.session_diff(context.places.root, main, record.branch, worktree)
    except HubError as error:
        if error.code is not Code.BRANCH_MISSING or record.worktree_ready:
            raise
        # Its branch is still being made, or it ended before it was.
        return Diff(summary="", diff="", truncated=False)


_WHICH = frozenset({Code.NOT_FOUND, Code.WHICH_SESSION})
_ACTIVE = _WHICH | {Code.NO_ACTIVE_SESSION}
_CHANGING = frozenset({Code.HANDOFF_IN_PROGRESS})
_STARTING = frozenset(
    {
        Code.TRUST_NEEDED,
        Code.SESSION_ALREADY_RUNNING,
        Code.NO_FALLBACK,
        Code.AGENT_MISSING,
        Code.AUTH_NEEDED,
        Code.ACCOUNT_IN_USE,
        Code.NOT_A_REPOSITORY,
        Code.NO_COMMIT,
        Code.NOT_FOUND,
        Code.WHICH_SESSION,
    }
)
ROUTES = (
    post("/api/run", "Start a session.", run, status=202, codes=_STARTING),
    post(
        "/api/handoff",
        "Hand the work over now.",
        call(lambda body: RequestHandoff(body.session_id)),
        given=Which,
        answer=HandingOver,
        codes=_ACTIVE | {Code.HANDOFF_IN_PROGRESS, Code.NO_FALLBACK},
    ),
    post(
        "/api/session/pause",
        "Hold the agent at the next event, or let it go on.",
        call(lambda body: RequestPause(body.pause, body.session_id)),
        given=Pause,
        answer=Paused,
        codes=_ACTIVE | {Code.HANDOFF_IN_PROGRESS},
    ),
    post(
        "/api/session/reply",
        "Answer the agent.",
        call(lambda body: RequestReply(body.reply, body.session_id)),
        given=TextReply,
        answer=Replied,
        codes=_ACTIVE | _CHANGING | {Code.REPLY_UNSUPPORTED},
    ),
    post("/api/session/stop", "End the session in order, snapshot included.", stop, codes=_ACTIVE),
    get(
        "/api/session/diff",
        "What the session has changed.",
        diff,
        codes=_ACTIVE | {Code.BRANCH_MISSING},
        foreign=True,
    ),
    get(
        "/api/session/cost",
        "What the session has cost.",
        call(lambda which: GetCost(which.session_id)),
        given=Which,
        answer=Cost,
        codes=_ACTIVE,
    ),
    get(
        "/api/sessions",
        "Every session: active, waiting for its turn, ended.",
        call(GetSessions, timeout=WRITE),  # what hides secrets in old tasks is made ready first
        answer=Sessions,
    ),
)
