"""Why Gemini CLI stopped, and what it waits for: its standard error -> retries and resets.

Owns: `Retries`, the fold over the lines of standard error, and the resets that only they tell.
Must not: read standard output, or believe an exit code (ACP always leaves with 0). The frame is
`hub.providers.acp.failures`; its code is Google's HTTP status here.

Traps: the daily quota's error holds no reset; "Please retry in 7200s." is on standard error, in a dump. A per-minute limit
is retried quietly, told only there ("Attempt 2 failed: ... Retrying after 10000ms...", in several lines amid banners). An
answer that was blocked looks like a finished turn without a word.
"""

from __future__ import annotations

import re
from typing import Any

import attrs

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.quota.resets import parse_reset
from hub.providers import jsonline
from hub.providers.acp import failures as common
from hub.providers.vendors import of_status
from hub.providers.wording import Wording

WORDING = Wording(
    (
        (
            FailureClass.AUTH,
            r"Please set an Auth method in\b|When using Gemini API, you must specify\b|Manual authorization is required\b",
        ),
    ),
    leads=r"FatalAuthenticationError: ",
)
_ATTEMPT = re.compile(r"\s*Attempt (\d{1,6}) failed(?: with status (\d{3}))?", re.IGNORECASE)
_DELAY = re.compile(r"\bRetrying after (\d{1,12})ms", re.IGNORECASE)
_HINT = re.compile(r"\bPlease retry in |\"?retryDelay\"?: ?\"?\d|\breset after ", re.IGNORECASE)
_ASKS_LOGIN = re.compile(
    r"authorize the application|enter the authorization code|accounts\.google\.com/o/oauth2", re.IGNORECASE
)


@attrs.frozen
class RetryAttempt:
    """A retry that standard error tells of."""

    number: int
    status: int | None
    kind: FailureClass | None


def classify(text: str, code: int, now: float, hint: float | None) -> Failure:
    """The failure; `hint` is the reset that standard error told, if any. See `hub.providers.acp.failures`."""
    return common.classify(text, code, now, hint=hint, wording=WORDING)


def from_exit(stderr: str, now: float, how: str) -> Failure:
    """The failure of a run that ended without an answer: its standard error, else a crash."""
    found = common.from_exit(stderr, now, how, WORDING)
    return with_reset(found, last_hint(stderr, now), now) if found.kind is FailureClass.USAGE_LIMIT else found


def attempt(line: str) -> RetryAttempt | None:
    """The failed attempt that a line of standard error begins to tell of."""
    found = _ATTEMPT.match(line)
    if found is None:
        return None
    status = int(found[2]) if found[2] else None
    return RetryAttempt(int(found[1]), status, WORDING.of_stderr(line) or of_status(status or 0))


def retry_delay(line: str) -> float | None:
    """Seconds until the next attempt, where the line tells them."""
    found = _DELAY.search(line)
    return int(found[1]) / 1000 if found else None


def reset_hint(line: str, now: float) -> float | None:
    """The reset that a line of standard error tells; retry delays are none."""
    if not _HINT.search(line):
        return None
    return parse_reset(line, now, None)


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


_BACKOFF = "Retrying with backoff"


class Retries:
    """The newest failed attempt and the newest reset."""

    def __init__(self) -> None:
        self._attempt: RetryAttempt | None = None
        self._hint: float | None = None

    def hint(self, now: float) -> float | None:
        """The newest reset that was told and still lies ahead."""
        return self._hint if self._hint is not None and self._hint > now else None

    def feed(self, line: bytes, now: float) -> list[Event]:
        """One line; the events of the attempts whose telling it ends."""
        text = jsonline.clean(line.decode("utf-8", "replace"))
        hint = reset_hint(text, now)
        self._hint = self._hint if hint is None else hint
        events = []
        if (began := attempt(text)) is not None:
            events += self._told(None, now)
            self._attempt = began
        delay = retry_delay(text)
        if delay is not None or _BACKOFF in text:
            events += self._told(delay, now)
        return events

    def _told(self, delay: float | None, now: float) -> list[Event]:
        began, self._attempt = self._attempt, None
        if began is None:
            return []
        meta: dict[str, Any] = {"attempt": began.number}
        if began.kind is not None:
            meta["failure"] = began.kind.value
        if began.status is not None:
            meta["status"] = began.status
        said = f"Attempt {began.number} failed"
        if delay is not None:
            meta.update(delayMs=int(delay * 1000), resetsAt=int(now + delay) + 1)
            said = f"{said}, next in {delay:.1f} s"
        return [Event(EventType.RETRY, said, meta)]
