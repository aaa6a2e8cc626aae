"""Why Claude Code stopped: its fields and texts -> failure class and reset.

Owns: the order in which its fields are believed, and the few texts of its own making.
Must not: keep state, or believe an exit code (0, 1 and 143 all occur with and without a failure).

Order of belief: what names the cause by itself (a rejected quota window, a refusal, a typed error) before the words, the
words before the kind of error and the HTTP status: a server that throttles everybody answers 429 as a used-up limit does.
What nothing explains is `unknown`: it is surfaced and never run again blindly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.domain.failure import Failure, FailureClass
from hub.domain.wallclock import HERE
from hub.providers import jsonline
from hub.providers.vendors import TYPES, of_status, types
from hub.providers.wording import Wording, failure

MINUTE_WINDOW = "minute"
_NAMES = {
    **TYPES,
    **types(
        (
            FailureClass.AUTH,
            """
            oauth_org_not_allowed account_on_hold verification_required cloud_credential_error named_profile_unusable
            stored_login_refused oauth_refresh_store_refused gateway_signin_required gateway_session_expired
            api_key_auth_disabled org_disabled_credential invalid_credential_header provider_credentials
            """,
        ),
        (
            FailureClass.OVERLOAD,
            "overloaded connection_failed no_response stream_idle_timeout computer_slept",
        ),
        (FailureClass.CONTEXT_OVERFLOW, "blocking_limit autocompact_thrashing message_over_context_limit"),
        (FailureClass.USAGE_LIMIT, "rate_limit model_requires_usage_credits long_context_credits_required"),
    ),
}
"""What it calls an error in a field: of its API, of its own, or the reason for which a turn ended."""

WORDING = Wording(
    (
        (
            FailureClass.REFUSAL,
            r"Claude Code (?:is unable|can't|cannot) (?:to )?respond to this (?:request|message)",
        ),
        (
            FailureClass.USAGE_LIMIT,
            r"Your org is out of usage \u00b7|(?:Extra usage is|Usage credits are) required for (?:1M|long) context",
        ),
        (
            FailureClass.OVERLOAD,
            (
                r"Repeated 529 Overloaded errors|\w{1,24} is experiencing high load(?:, please use|\. Switch to)\b"
                r"|Response stalled mid-stream\.|Stream idle timeout - partial response"
            ),
        ),
        (
            FailureClass.AUTH,
            (
                r"(?:Anthropic profile )?login (?:expired|reached its time limit) \u00b7"
                r"|Failed to authenticate: this login |Could not refresh your login\b"
                r"|Your organization has disabled API key authentication\b|Your apiKeyHelper script is failing\b"
            ),
        ),
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
    told = [jsonline.text(message.get("error")), jsonline.text(message.get("api_error_type"))]
    kinds = told if any(told) else [before.kind]
    return Signs(
        text=said,
        status=jsonline.integer(message.get("api_error_status")),
        error=jsonline.text(message.get("api_error")) or before.error,
        kind=next((name for name in kinds if name in _NAMES), ""),
        terminal=jsonline.text(message.get("terminal_reason")),
        refused=before.refused or stop_reason == "refusal",
        rejected=before.rejected,
        resets_at=before.resets_at if resets_at is None else resets_at,
        window=jsonline.text(params.get("rateLimitType")) or before.window,
    )


def classify(told: Signs, now: float) -> Failure:
    """The failure that the signs tell of."""
    window = told.window or (MINUTE_WINDOW if _PER_MINUTE.search(told.text) else "")
    return failure(_class(told), told.text, now, reset=told.resets_at, zone=HERE, window=window)


def _class(told: Signs) -> FailureClass:
    if told.refused:
        return FailureClass.REFUSAL
    named = FailureClass.USAGE_LIMIT if told.rejected else _NAMES.get(told.error) or _NAMES.get(told.terminal)
    said = named or WORDING.of_error(told.text) or _NAMES.get(told.kind)
    return said or of_status(told.status or 0) or FailureClass.UNKNOWN


def retry_class(status: int | None, error: str) -> FailureClass:
    """What a retry of the agent's own ladder is about; a broken connection counts as an overload."""
    return _NAMES.get(error) or of_status(status or 0) or FailureClass.OVERLOAD
