"""Why an agent stopped without being done, and what is kept of hub's own errors.

Owns: the closed list of failure classes, the `Failure` value and the `ErrorNote`.
Must not: read texts (each provider's `failures.py` does) or decide what follows (`hub.domain.retry` does).
Tests: tests/hub/domain/test_retry.py
"""

from __future__ import annotations

import math
from enum import StrEnum

import attrs

from hub.errors import Code, HubError


class FailureClass(StrEnum):
    """What kind of wall the agent hit."""

    USAGE_LIMIT = "usage_limit"
    OVERLOAD = "overload"
    REFUSAL = "refusal"
    AUTH = "auth"
    CONTEXT_OVERFLOW = "context_overflow"
    CRASH = "crash"
    SILENT = "silent"
    UNKNOWN = "unknown"


TIME_MENDS = frozenset({FailureClass.USAGE_LIMIT, FailureClass.OVERLOAD})
"""Walls that are gone after a while: who met one may have the work again."""


def _whole(instant: float | None) -> float | None:
    """The next whole second: what an event and the wallet tell of a reset has no parts, and nobody comes back too early."""
    return None if instant is None else float(math.ceil(instant))


@attrs.frozen
class Failure:
    """A classified failure.

    Attributes:
        kind: The class.
        text: The agent's own words, as read (redacted by the caller before they leave the adapter).
        resets_at: When the quota comes back, whole epoch seconds; None when nothing told.
        window: The quota window's name where known (`five_hour`, `seven_day`, `minute`, `day`...).
    """

    kind: FailureClass
    text: str
    resets_at: float | None = attrs.field(default=None, converter=_whole)
    window: str = ""


@attrs.frozen
class ErrorNote:
    """Why something went wrong, and the next step: of a session, a node of a pipeline, or hub itself."""

    code: Code
    detail: str
    hint: str

    @classmethod
    def of(cls, error: HubError, session_id: str = "SESSION") -> ErrorNote:
        """What is kept of an error; a next step that names a SESSION names this one, as it can be typed."""
        return cls(error.code, error.detail, error.hint.replace("SESSION", session_id))
