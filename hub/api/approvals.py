"""Approvals: what waits for a person's word, and the answer.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import attrs

from hub.api.base import Done
from hub.api.meta import Meta, Timestamp
from hub.domain.approval import CUT, LAPSE, Action, Severity
from hub.domain.meta import EventMeta
from hub.domain.text.figures import agent_name

MAX_NOTE = 10_000
ApprovalId = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$(?!\n)", description="An approval's id.")]


@attrs.frozen(kw_only=True)
class Approval:
    """One request that waits."""

    id: str
    action: str
    reason: str
    severity: Severity
    created_at: Timestamp
    expires_at: Annotated[str | None, "When nobody's answer counts as a no; null: it waits for ever."]
    kind: Action
    session_id: str
    provider: str
    account: str
    tool: str
    context: Annotated[
        EventMeta,
        "What the agent told: `command`, `path`, `paths`, `input`; `cut`: not all is there. Redacted.",
    ]

    @property
    def who(self) -> str:
        """Whose tool it is, else who is to start or to take over: `claude/work`."""
        return agent_name(self.provider, self.account)

    @property
    def cut(self) -> str:
        """That not all of it is shown; else ""."""
        return CUT if self.context.get("cut") else ""

    def lapse(self, at: Callable[[str], str]) -> str:
        """When nobody's answer is a no, with the instant as the face writes it; "" where it waits for ever."""
        return LAPSE.format(at(self.expires_at)) if self.expires_at else ""

    @property
    def why(self) -> str:
        """The reason, where it says more than the action does; else ""."""
        return "" if self.reason.removeprefix(f"{self.tool} ") in self.action else self.reason


@attrs.frozen(kw_only=True)
class Resolution:
    """The answer."""

    id: ApprovalId
    approved: bool
    note: Annotated[
        str, Meta(max_length=MAX_NOTE, description="For the agent, where its protocol has room.")
    ] = ""
    always: Annotated[
        bool, "Of a yes: for the same tool on the very same command or path it holds until the session ends."
    ] = False


@attrs.frozen(kw_only=True)
class Resolved(Done):
    """The request, and what was said to it."""

    id: str
    approved: bool
