"""Why Claude Code stopped: its fields and texts -> failure class and reset.

Owns: the order in which its fields are believed, and the few texts of its own making.
Must not: keep state, or believe an exit code (0, 1 and 143 all occur with and without a failure).

Order of belief: what names the cause by itself (a rejected quota window, a refusal, too long a prompt)
before the HTTP status, the status before the words. What nothing explains is `unknown`: it is surfaced and
never run again blindly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.domain.failure import Failure, FailureClass
from hub.providers import jsonline
from hub.providers.vendors import of_status
from hub.providers.wording import Wording, failure

MINUTE_WINDOW = "minute"
_AUTH_KINDS = frozenset({"authentication_failed", "authentication_error"})

WORDING = Wording(
    (
        (
            FailureClass.REFUSAL,
            r"Claude Code (?:is unable|can't|cannot) (?:to )?respond to this (?:request|message)",
        ),
        (FailureClass.USAGE_LIMIT, r"Claude AI usage limit reached"),
        (FailureClass.OVERLOAD, r"Repeated 529 Overloaded errors"),
    ),
    leads=r"API Error \(",
)
_PER_MINUTE = re.compile(r"per[ -]minute", re.IGNORECASE)


@attrs.frozen
class Signs:
    """What a result, a synthetic message or a quota event tells about a failure."""

    text: str = ""
    status: int | None = None
    """HTTP status of the model's answer."""
    error: str = ""
    """`api_error`: `usage_limit_reached`..."""
    kind: str = ""
    """`api_error_type` or the message's `error`: `rate_limit_error`, `authentication_failed`..."""
    terminal: str = ""
    """`terminal_reason`: `prompt_too_long`, `api_error`..."""
    refused: bool = False
    rejected: bool = False
    """A quota window has rejected the request."""
    resets_at: float | None = None
    window: str = ""


def signs(message: Mapping[str, object], said: str, stop_reason: object, before: Signs) -> Signs:
    """The signs of a result or a synthetic message, joined to what was known before it."""
    params = jsonline.mapping(jsonline.mapping(message.get("api_error_params")).get("rate_limit_info"))
    resets_at = jsonline.instant(params.get("resetsAt"))
    return Signs(
        text=said,
        status=jsonline.integer(message.get("api_error_status")),
        error=jsonline.text(message.get("api_error")) or before.error,
        kind=jsonline.text(message.get("api_error_type") or message.get("error")) or before.kind,
        terminal=jsonline.text(message.get("terminal_reason")),
        refused=before.refused or stop_reason == "refusal",
        rejected=before.rejected,
        resets_at=before.resets_at if resets_at is None else resets_at,
        window=jsonline.text(params.get("rateLimitType")) or before.window,
    )


def classify(told: Signs, now: float) -> Failure:
    """The failure that the signs tell of."""
    window = told.window or (MINUTE_WINDOW if _PER_MINUTE.search(told.text) else "")
    return failure(_class(told), told.text, now, reset=told.resets_at, window=window)


def _class(told: Signs) -> FailureClass:
    order = (
        (FailureClass.REFUSAL, told.refused),
        (FailureClass.USAGE_LIMIT, told.rejected or told.error == "usage_limit_reached"),
        (FailureClass.CONTEXT_OVERFLOW, told.terminal == "prompt_too_long"),
        (FailureClass.AUTH, told.kind in _AUTH_KINDS),
    )
    found = next((kind for kind, fits in order if fits), None)
    return found or of_status(told.status or 0) or WORDING.of_error(told.text) or FailureClass.UNKNOWN


def retry_class(status: int | None, error: str) -> FailureClass:
    """What a retry of the agent's own ladder is about; a broken connection counts as an overload."""
    return FailureClass.AUTH if error in _AUTH_KINDS else of_status(status or 0) or FailureClass.OVERLOAD
