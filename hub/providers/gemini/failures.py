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

import attrs

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
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
_BACKOFF = "Retrying with backoff"
_HINT = re.compile(r"\bPlease retry in |\"?retryDelay\"?: ?\"?\d|\breset after ", re.IGNORECASE)


def reset_hint(line: str, now: float) -> float | None:
    """The reset that a line of standard error tells; retry delays are none."""
    if not _HINT.search(line):
        return None
    return parse_reset(line, now, None)


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
    )


class Retries:
    """The newest failed attempt and the newest reset."""

    def __init__(self) -> None:
        self._attempt: EventMeta = {}
        """What was told of it."""
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
        if (began := _ATTEMPT.match(text)) is not None:
            events += self._told(None, now)
            self._attempt = _about(began)
        delay = _DELAY.search(text)
        if delay is not None or _BACKOFF in text:
            events += self._told(int(delay[1]) / 1000 if delay else None, now)
        return events

    def _told(self, delay: float | None, now: float) -> list[Event]:
        meta, self._attempt = self._attempt, {}
        if not meta:
            return []
        said = f"Attempt {meta['attempt']} failed"
        if delay is not None:
            meta |= {"delayMs": int(delay * 1000), "resetsAt": int(now + delay) + 1}
            said = f"{said}, next in {delay:.1f} s"
        return [Event(EventType.RETRY, said, meta)]


def _about(began: re.Match[str]) -> EventMeta:
    """What the line on which a failed attempt is begun to be told says of it."""
    status = int(began[2]) if began[2] else None
    kind = WORDING.of_stderr(began.string) or of_status(status or 0)
    meta: EventMeta = {"attempt": int(began[1])}
    if kind is not None:
        meta["failure"] = kind.value
    if status is not None:
        meta["status"] = status
    return meta
