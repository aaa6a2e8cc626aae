"""Why Gemini CLI stopped: JSON-RPC codes, error bodies and its standard error -> failure class and reset.

Owns: the tables of its codes and words, and reading the retries that only standard error tells.
Must not: keep state, or believe an exit code (ACP always leaves with 0).

Order of belief: the words first, for Google answers a bad key and a full context both with 400 and the cause
is only in the text; then the HTTP status, which ACP hands on as the JSON-RPC error code.

Traps: the daily quota's error holds no reset; "Please retry in 7200s." is on standard error, in a dump. A
per-minute limit is retried quietly, told only there ("Attempt 2 failed: ... Retrying after 10000ms..."). An
answer that was blocked looks like a finished turn without a word (`no_answer`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.resets import parse_reset
from hub.providers import jsonline

MINUTE_WINDOW = "minute"
DAY_WINDOW = "day"
AUTH_REQUIRED = -32000
"""ACP: the agent is not logged in."""
NO_ANSWER = "The turn ended without an answer: the model's safeguards blocked it, or it said nothing."
_TOO_MANY = 429
_UNAUTHORISED = frozenset({401, 403, AUTH_REQUIRED})
_SERVER_ERRORS = range(500, 600)

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
_DAILY = re.compile(r"daily|per ?day", re.IGNORECASE)
_MINUTELY = re.compile(r"per ?minute", re.IGNORECASE)
_ATTEMPT = re.compile(r"\bAttempt (\d{1,6}) failed(?: with status (\d{3}))?", re.IGNORECASE)
_DELAY = re.compile(r"\bRetrying after (\d{1,12})ms", re.IGNORECASE)
_HINT = re.compile(r"\bPlease retry in |\"?retryDelay\"?: ?\"?\d|\breset after ", re.IGNORECASE)
_ASKS_LOGIN = re.compile(
    r"authorize the application|enter the authorization code|accounts\.google\.com/o/oauth2", re.IGNORECASE
)
_FRAME = re.compile(r"\s+at .*[:(]")
_LONG_WAIT = 90.0
"""A wait longer than this is no per-minute limit's, whatever the words around it say."""


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
    if code == _TOO_MANY:
        return FailureClass.USAGE_LIMIT
    if code in _UNAUTHORISED:
        return FailureClass.AUTH
    return FailureClass.OVERLOAD if code in _SERVER_ERRORS else found


def classify(text: str, code: int, now: float, hint: float | None) -> Failure:
    """The failure.

    Args:
        text: The error's words, or the error body Google sent.
        code: The JSON-RPC error code; for answers of the model it is the HTTP status.
        now: When it came, epoch seconds.
        hint: The reset that standard error told, if any.
    """
    kind = class_of(text, code) or FailureClass.UNKNOWN
    said = readable(text)
    if kind is not FailureClass.USAGE_LIMIT:
        return Failure(kind, said)
    reset = parse_reset(text, now, None)
    resets_at = reset.at if reset else hint
    return Failure(kind, said, resets_at, _window(text, None if resets_at is None else resets_at - now))


def _window(text: str, wait: float | None) -> str:
    if _DAILY.search(text):
        return DAY_WINDOW
    if wait is not None and wait > _LONG_WAIT:
        return ""
    return MINUTE_WINDOW if _MINUTELY.search(text) or wait is not None else ""


def readable(text: str) -> str:
    """The message inside an error body; the text itself where it is none."""
    body = jsonline.mapping((jsonline.read(text.encode("utf-8", "replace")) or {}).get("error"))
    return jsonline.text(body.get("message")) or text


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


def from_exit(stderr: str, now: float, how: str) -> Failure:
    """The failure of a run that ended without an answer: its standard error, else a crash."""
    # Numbers in a stack trace (`chunk.js:503:28`) are no status.
    words = "\n".join(line for line in stderr.splitlines() if not _FRAME.match(line)).strip()
    kind = class_of(words) if words else None
    if kind is None:
        return Failure(FailureClass.CRASH, f"{how}: {words}" if words else how, source="exit")
    hint = last_hint(words, now) if kind is FailureClass.USAGE_LIMIT else None
    return Failure(kind, words, hint, _window(words, None) if hint else "", source="stderr")


def last_hint(stderr: str, now: float) -> float | None:
    """The newest reset in the tail of standard error."""
    hints = (reset_hint(line, now) for line in reversed(stderr.splitlines()))
    return next((hint for hint in hints if hint is not None), None)


def event(failure: Failure) -> Event:
    """The error event of a failure."""
    meta: Mapping[str, Any] = {
        "failure": failure.kind.value,
        **({} if failure.resets_at is None else {"resetsAt": int(failure.resets_at)}),
        **({"window": failure.window} if failure.window else {}),
    }
    return Event(EventType.ERROR, failure.text, meta)


def with_reset(failure: Failure, hint: float | None, now: float) -> Failure:
    """The usage limit with the reset that standard error told, where that still lies ahead."""
    if hint is None or hint <= now:
        return failure
    return attrs.evolve(
        failure, resets_at=hint, window=failure.window or _window(failure.text, hint - now), source="stderr"
    )
