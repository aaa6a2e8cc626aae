"""Why a demo agent stopped: the type of its line -> failure class.

Owns: that table and the words for people.
Must not: keep state.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.failure import Failure, FailureClass
from hub.providers import jsonline

WINDOW = "demo"

KINDS: Mapping[str, tuple[FailureClass, str]] = {
    "limit": (FailureClass.USAGE_LIMIT, "You've hit your demo limit."),
    "overload": (FailureClass.OVERLOAD, "The demo model is overloaded."),
    "refusal": (FailureClass.REFUSAL, "The demo model refuses."),
    "auth": (FailureClass.AUTH, "The demo agent is not logged in."),
    "context": (FailureClass.CONTEXT_OVERFLOW, "The prompt is too long for the demo model."),
    "error": (FailureClass.UNKNOWN, "The demo agent does not understand its script."),
}


def read(kind: str, message: Mapping[str, object]) -> Failure:
    """The failure a line of one of these types tells of."""
    failure, words = KINDS[kind]
    resets_at = jsonline.instant(message.get("resetsAt")) if failure is FailureClass.USAGE_LIMIT else None
    window = WINDOW if failure is FailureClass.USAGE_LIMIT else ""
    return Failure(failure, jsonline.text(message.get("text")) or words, resets_at, window)
