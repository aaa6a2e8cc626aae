"""The result of a session: taken, discarded, cleaned away.

Owns: what these take and answer.
Must not: know a route.
Tests: tests/hub/cli/commands/test_result.py
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import attrs

from hub.api.base import Done
from hub.api.meta import MAX_SAFE_INTEGER, Meta
from hub.api.session import SessionId

BRANCH = r"^([A-Za-z0-9_][A-Za-z0-9._/-]{0,199})?$(?!\n)"


class How(StrEnum):
    """As what a result is taken."""

    COMMIT = "commit"
    """One commit on the current branch."""
    MERGE = "merge"
    """The session's branch, merged into the current one."""
    BRANCH = "branch"
    """One commit on a branch of its own; the checkout is not touched."""
    PATCH = "patch"
    """The text of a patch; nothing is touched."""


@attrs.frozen(kw_only=True)
class Take:
    """Which session's result is taken, and as what."""

    session_id: SessionId = ""
    how: How = How.COMMIT
    branch: Annotated[
        str,
        Meta(
            pattern=BRANCH,
            description="With `how` `branch`: its name. Left out: the one with earlier work of it, or one from the task.",
        ),
    ] = ""


@attrs.frozen(kw_only=True)
class Taken(Done):
    """What was taken."""

    session_id: str
    how: How
    commit: Annotated[str, 'The commit that was made; "" for a patch.']
    branch: Annotated[str, 'The branch it is on; "" for a patch.']
    files: int
    summary: Annotated[str, "Per-file change summary."]
    left_out: Annotated[list[str], "New files that are not in it: `.hub`, bytecode, caches, coverage."]
    patch: Annotated[str, 'The patch in base64; "" but with `how` `patch`.']
    verified: Annotated[bool | None, "What the acceptance commands said of it; null: none was run."] = None
    worktree_has_more: Annotated[
        bool, "Whether its worktree has what is in no snapshot, and so was not taken."
    ] = False


@attrs.frozen(kw_only=True)
class Discard:
    """Whose worktree and branch go."""

    session_id: SessionId = ""
    force: Annotated[bool, "Also a result that was not taken."] = False


@attrs.frozen(kw_only=True)
class Discarded(Done):
    """What is gone."""

    session_id: str
    branch: str
    worktree: str
    tip: Annotated[str, 'Where the branch was; git keeps that commit for some weeks. "": there was none.']


@attrs.frozen(kw_only=True)
class Clean:
    """Of which sessions that have ended worktree and branch go. Without `force` never a result that was not taken."""

    merged: Annotated[bool, "Only of those whose result is in the current branch."] = False
    older: (
        Annotated[
            int,
            Meta(ge=0, le=MAX_SAFE_INTEGER, description="Only of those that ended so many seconds ago."),
        ]
        | None
    ) = None
    force: Annotated[bool, "Also results that were not taken."] = False
    dry: Annotated[bool, "Only say what would go."] = False


@attrs.frozen(kw_only=True)
class Kept:
    """A session whose work stays, and why."""

    session_id: str
    why: Literal["active", "not_taken", "not_merged", "too_new", "failed"]
    detail: str


@attrs.frozen(kw_only=True)
class Cleaned(Done):
    """What is gone, or would be, and what stays."""

    gone: list[Discarded]
    kept: list[Kept]
