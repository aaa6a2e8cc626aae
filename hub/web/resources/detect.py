"""Agents that run already, and going on with their work.

Owns: the routes, and what is done besides one call.
Must not: look for agents, or decide what may be adopted.
"""

from __future__ import annotations

from hub.api.detect import Adopted, AdoptOrder, Detected, DetectQuery
from hub.domain.missing import invalid_field
from hub.errors import Code
from hub.messages.detector import Adopt, Detect
from hub.web.context import BEGIN, WRITE, Context, call
from hub.web.route import get, post


async def adopt(context: Context, body: AdoptOrder) -> Adopted:
    """A brief alone starts nothing, so nobody has to have agreed to anything."""
    if body.start and body.interactive:
        raise invalid_field("interactive", "start and interactive exclude each other.")
    if body.start or body.interactive:
        await context.insist(body.trust)
    order = Adopt(
        body.id,
        body.target,
        start=body.start,
        interactive=body.interactive,
        stop=body.stop,
        repository=body.repository,
    )
    return await context.call(order, timeout=BEGIN)


_ADOPT = frozenset(
    {
        Code.TRUST_NEEDED,
        Code.NOT_FOUND,
        Code.AGENT_RUNNING,
        Code.NOTHING_TO_ADOPT,
        Code.OUTSIDE_PROJECT,
        Code.NOT_A_REPOSITORY,
        Code.SESSION_ALREADY_RUNNING,
        Code.NO_TERMINAL,
        Code.NO_PERMISSION,
        Code.CONFIG_INVALID,
        Code.AGENT_MISSING,
        Code.NO_COMMIT,
        Code.GIT_FAILED,
        Code.JOB_RUNNING,
        Code.INTERRUPTED,
    }
)
ROUTES = (
    get(
        "/api/detect",
        "AI coding agents on this machine: those that run, and sessions written lately.",
        call(lambda query: Detect(query.since_hours), WRITE),
        given=DetectQuery,
        answer=list[Detected],
        foreign=True,
    ),
    post(
        "/api/detect/adopt",
        "Write a brief of an agent's work for another one, and let that go on with it.",
        adopt,
        codes=_ADOPT,
        foreign=True,
    ),
)
