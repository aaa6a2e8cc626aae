"""Why a child did not start.

Owns: the way from a supervisor's refusal to the coded error behind it.
Must not: judge what follows from it.
Tests: tests/hub/actors/session/test_agent_control.py
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.errors import HubError
from supervisors import AdminError


def coded_cause(error: AdminError) -> HubError | None:
    """The coded error with which the child ended before it was ready; None when it was another."""
    cause = error.exit.error if error.exit is not None else None
    return next((leaf for leaf in _leaves(cause) if isinstance(leaf, HubError)), None)


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    elif error is not None:
        yield error
