"""Why Gemini CLI stopped: JSON-RPC codes, error bodies and its standard error -> failure class and reset.

Owns: the table of its words, and reading the retries that only standard error tells.
Must not: keep state, or believe an exit code (ACP always leaves with 0). The frame is `hub.providers.acp.failures`.

Order of belief: the words first, for Google answers a bad key and a full context both with 400 and the cause
is only in the text; then the HTTP status, which ACP hands on as the JSON-RPC error code.

Traps: the daily quota's error holds no reset; "Please retry in 7200s." is on standard error, in a dump. A
per-minute limit is retried quietly, told only there ("Attempt 2 failed: ... Retrying after 10000ms..."). An
answer that was blocked looks like a finished turn without a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from hub.domain.failure import Failure, FailureClass
from hub.domain.resets import parse_reset
from hub.providers.acp import failures as common

_TEXTS: Sequence[tuple[FailureClass, str]] = (
    (FailureClass.USAGE_LIMIT, r"exhausted your (?:\w+ )?quota|exceeded your current quota|quota exceeded"),
    (FailureClass.USAGE_LIMIT, r"resource_exhausted|rate limit exceeded|daily (?:quota|limit)"),
    (FailureClass.AUTH, r"api[ _]key (?:not valid|is missing|expired)|api_key_invalid|unauthenticated"),
    (FailureClass.AUTH, r"invalid auth method|authentication (?:is )?(?:required|failed)|invalid_grant"),
    (FailureClass.AUTH, r"permission_denied|login (?:is )?required|please (?:log|sign) ?in"),
    (FailureClass.CONTEXT_OVERFLOW, r"input token count|exceeds the maximum number of tokens|context window"),
    (FailureClass.REFUSAL, r"safety settings|prohibited_content|blocked due to|recitation"),
    (FailureClass.OVERLOAD, r"overloaded|unavailable|\b50[0-9]\b|fetch failed|socket hang up|etimedout"),
)
_CAPACITY = re.compile(
    r"exhausted your capacity|capacity exceeded|model_capacity_e\w+|model is overloaded", re.IGNORECASE
)
"""A server without room answers 429 like a quota does, but nothing of the user's is used up."""
_TABLE = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TEXTS]
_ATTEMPT = re.compile(r"\bAttempt (\d{1,6}) failed(?: with status (\d{3}))?", re.IGNORECASE)
_DELAY = re.compile(r"\bRetrying after (\d{1,12})ms", re.IGNORECASE)
_HINT = re.compile(r"\bPlease retry in |\"?retryDelay\"?: ?\"?\d|\breset after ", re.IGNORECASE)
_ASKS_LOGIN = re.compile(
    r"authorize the application|enter the authorization code|accounts\.google\.com/o/oauth2", re.IGNORECASE
)


@attrs.frozen
class Attempt:
    """A retry that standard error tells of."""

    number: int
    status: int | None
    kind: FailureClass | None


def class_of(text: str, code: int = 0) -> FailureClass | None:
    """The class that the words and the code tell; None when they tell none."""
    if _CAPACITY.search(text):
        return FailureClass.OVERLOAD
    found = next((kind for kind, pattern in _TABLE if pattern.search(text)), None)
    if found is not None and found is not FailureClass.OVERLOAD:
        return found
    return common.of_status(code) or found


def classify(text: str, code: int, now: float, hint: float | None) -> Failure:
    """The failure; `hint` is the reset that standard error told, if any. See `hub.providers.acp.failures`."""
    return common.classify(text, code, now, hint=hint, kinds=class_of)


def from_exit(stderr: str, now: float, how: str) -> Failure:
    """The failure of a run that ended without an answer: its standard error, else a crash."""
    found = common.from_exit(stderr, now, how, class_of)
    return with_reset(found, last_hint(stderr, now), now) if found.kind is FailureClass.USAGE_LIMIT else found


def attempt(line: str) -> Attempt | None:
    """The failed attempt that a line of standard error begins to tell of."""
    found = _ATTEMPT.search(line)
    if found is None:
        return None
    status = int(found[2]) if found[2] else None
    return Attempt(int(found[1]), status, class_of(line, status or 0))


def retry_delay(line: str) -> float | None:
    """Seconds until the next attempt, where the line tells them."""
    found = _DELAY.search(line)
    return int(found[1]) / 1000 if found else None


def reset_hint(line: str, now: float) -> float | None:
    """The reset that a line of standard error tells; retry delays are none."""
    if not _HINT.search(line):
        return None
    reset = parse_reset(line, now, None)
    return reset.at if reset else None


def asks_for_login(line: str) -> bool:
    """Whether plain text on standard output is the start of an interactive login."""
    return _ASKS_LOGIN.search(line) is not None


def last_hint(stderr: str, now: float) -> float | None:
    """The newest reset in the tail of standard error."""
    hints = (reset_hint(line, now) for line in reversed(stderr.splitlines()))
    return next((hint for hint in hints if hint is not None), None)


def with_reset(failure: Failure, hint: float | None, now: float) -> Failure:
    """The usage limit with the reset that standard error told, where that still lies ahead."""
    if hint is None or hint <= now:
        return failure
    return attrs.evolve(
        failure,
        resets_at=hint,
        window=failure.window or common.window(failure.text, hint - now),
        source="stderr",
    )
