"""Agents that run already.

Owns: the shape of a detected agent.
Must not: look for agents.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from hub.domain.lineup import Confidence
from hub.web.backend import Backend, JsonArray
from hub.web.route import get
from hub.web.schema import Answer, Query

MAX_HOURS = 24 * 365


class DetectQuery(Query, frozen=True, kw_only=True):
    """How far to look back."""

    since_hours: Annotated[
        int,
        Meta(ge=0, le=MAX_HOURS, description="Sessions written since then; what runs is told in any case."),
    ] = 24


class Turn(Answer, frozen=True, kw_only=True):
    """What was said, word for word but for its secrets."""

    role: Literal["user", "assistant"]
    text: str


class Intel(Answer, frozen=True, kw_only=True):
    """What an agent's own store tells of a session."""

    session_id: str
    model: str
    initial_prompt: str
    plan: list[str]
    tasks_remaining: list[str]
    files_touched: list[str]
    skills: list[str]
    mcps: list[str]
    recent_turns: Annotated[list[Turn], Meta(description="The last 16, oldest first.")]
    tokens_in: int
    tokens_out: int
    tokens_exact: Annotated[bool, Meta(description="Whether the figures cover the whole session.")]
    message_count: int
    alarm: Annotated[str, Meta(description="Why this is not to be trusted; empty when nothing is wrong.")]


class Detected(Answer, frozen=True, kw_only=True):
    """An agent that runs on this machine, or a session that one has left."""

    id: str
    provider: str
    display_name: str
    surface: Annotated[str, Meta(description="command-line, editor, desktop, server or program.")]
    pid: Annotated[int, Meta(description="Of its outermost process; 0 = it does not run.")]
    pids: Annotated[list[int], Meta(description="Of all its processes.")]
    running: bool
    work_dir: str
    account: Annotated[str, Meta(description="An account's label, else the folder of its configuration.")]
    detected_via: Annotated[list[str], Meta(description="`process` and `transcript`, one or both.")]
    last_active: Annotated[int, Meta(description="Unix time.")]
    owner: Annotated[Literal["user", "hub"], Meta(description="Who has started it.")]
    confidence: Annotated[Confidence, Meta(description="How sure it is that the session is the agent's.")]
    candidates: Annotated[
        list[str], Meta(description="Ids of sessions that may be the agent's, where nobody can tell.")
    ]
    alarm: Annotated[
        str,
        Meta(
            description="Why the account's store was not searched to its end, in an entry of its own for that store: "
            "some of its sessions may be missing. Else empty."
        ),
    ]
    adoptable: Annotated[bool, Meta(description="Whether it works in this project.")]
    session: Intel | None


async def detect(backend: Backend, query: DetectQuery) -> JsonArray:
    """AI coding agents on this machine: those that run, and sessions written lately."""
    return await backend.detect(query.since_hours)


ROUTES = (get("/api/detect", detect, query=DetectQuery, answer=list[Detected]),)
