"""Errors that are not the end of anything, and why a child did not start.

Owns: which codes go away by themselves or by the user's hand outside hub, which say that the audit log takes nothing more,
and the way from a supervisor's refusal to the coded error behind it.
Must not: decide what is done meanwhile.
Tests: tests/hub/actors/session/test_driver.py, tests/hub/actors/session/test_agent_control.py
"""

from __future__ import annotations

from hub.errors import Code, HubError
from supervisors import AdminError
from supervisors.exits import leaves

TRANSIENT = frozenset({Code.NO_SPACE, Code.READ_ONLY, Code.UNAVAILABLE, Code.DISK_FAILED})
"""What failed is tried again until it works; after `disk_failed` by the next daemon, for this one is about to end."""
UNAUDITED = frozenset({Code.AUDIT_BROKEN, Code.AUDIT_UNREADABLE})
"""No session goes on without its audit log, but one may end."""


def passes(error: HubError) -> bool:
    """Whether what failed is to be tried again, with the same agent."""
    return error.code in TRANSIENT or bool(error.extra.get("retry"))


def coded_cause(error: AdminError) -> HubError | None:
    """The coded error with which the child ended before it was ready; None when it was another."""
    cause = error.exit.error if error.exit is not None else None
    found = leaves(cause) if cause is not None else ()
    return next((leaf for leaf in found if isinstance(leaf, HubError)), None)
