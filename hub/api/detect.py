"""Agents that run already, and going on with their work.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.base import Done
from hub.api.meta import Meta, ProviderName, Trust
from hub.domain.detection.matching import Confidence

MAX_HOURS = 24 * 365


@attrs.frozen(kw_only=True)
class DetectQuery:
    """How far to look back."""

    since_hours: Annotated[
        int,
        Meta(ge=0, le=MAX_HOURS, description="Sessions written since then; what runs is told in any case."),
    ] = 24


@attrs.frozen(kw_only=True)
class Turn:
    """What was said, word for word but for its secrets."""

    role: Literal["user", "assistant"]
    text: str


@attrs.frozen(kw_only=True)
class Intel:
    """What an agent's own store tells of a session."""

    session_id: str
    model: str
    initial_prompt: str
    plan: list[str]
    tasks_remaining: list[str]
    files_touched: list[str]
    skills: list[str]
    mcps: list[str]
    recent_turns: Annotated[list[Turn], "The last 16, oldest first."]
    tokens_in: int
    tokens_out: int
    tokens_exact: Annotated[bool, "Whether the figures cover the whole session."]
    message_count: int
    alarm: Annotated[str, "Why this is not to be trusted; empty when nothing is wrong."]


@attrs.frozen(kw_only=True)
class Detected:
    """An agent that runs on this machine, or a session that one has left."""

    id: str
    provider: str
    display_name: str
    surface: Annotated[str, "command-line, editor, desktop, server or program."]
    pid: Annotated[int, "Of its outermost process; 0 = it does not run."]
    pids: Annotated[list[int], "Of all its processes."]
    running: bool
    work_dir: str
    account: Annotated[str, "An account's label, else the folder of its configuration."]
    detected_via: Annotated[list[str], "`process` and `transcript`, one or both."]
    last_active: Annotated[int, "Unix time."]
    owner: Annotated[Literal["user", "hub"], "Who has started it."]
    confidence: Annotated[Confidence, "How sure it is that the session is the agent's."]
    candidates: Annotated[list[str], "Ids of sessions that may be the agent's, where nobody can tell."]
    alarm: Annotated[
        str,
        "Why the account's store was not searched to its end, in an entry of its own for that store: "
        "some of its sessions may be missing. Else empty.",
    ]
    adoptable: Annotated[bool, "Whether it works in this project."]
    session: Annotated[Intel, "All of it empty, its id too, where no session is known."]


DetectedId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=300,
        pattern=r"^[^\u0000-\u001f\u007f]+$(?!\n)",
        description="As the newest scan told it: `<provider>:<session id>` or `<provider>:pid:<pid>`.",
    ),
]


@attrs.frozen(kw_only=True)
class AdoptOrder:
    """What to adopt, for whom, and how to go on. With neither `start` nor `interactive` only the brief is written."""

    id: DetectedId
    target: ProviderName
    start: Annotated[bool, "Begin a session on the target."] = False
    interactive: Annotated[bool, "Open the target's own program in a terminal."] = False
    stop: Annotated[bool, "End the agent first, if it still runs."] = False
    repository: Annotated[
        str,
        Meta(
            max_length=4096,
            pattern=r"^(/[^\u0000-\u001f\u007f]*)?$(?!\n)",
            description="The working tree it works in, absolute, where that is none of this project: its files are then in "
            "the brief too. A session begins only in the project of its work.",
        ),
    ] = ""
    trust: Trust = ""


@attrs.frozen(kw_only=True)
class Adopted(Done):
    """The brief, and what was begun with it."""

    id: str
    target: str
    brief: Annotated[str, "The brief's path; its signed form lies beside it."]
    mode: Literal["brief", "start", "interactive"]
    resumed: Annotated[bool, "Whether the agent is told to go on in its own session."] = False
    running: Annotated[bool, "Whether the agent still runs."] = False
    stopped: Annotated[list[int], "The agent's processes, and those below them, that were ended."]
    session_id: Annotated[str, "The session that was started; empty for other modes."]
    branch: str
    worktree: str
    command: Annotated[str, "What runs in the terminal; empty for other modes."]
    terminal: str
