"""What Gemini tells on standard error only: its retries and the reset of a limit.

Owns: `Retries`, the fold over the lines of standard error.
Must not: read standard output.

A message may come in several lines ("Attempt 1 failed: ...", then "... Retrying after 5579ms...") amid
banners and stack traces.
"""

from __future__ import annotations

from hub.domain.event import Event, EventType
from hub.providers import jsonline
from hub.providers.gemini import failures

_BACKOFF = "Retrying with backoff"


class Retries:
    """The newest failed attempt and the newest reset."""

    def __init__(self) -> None:
        self._attempt: failures.RetryAttempt | None = None
        self._hint: float | None = None

    def hint(self, now: float) -> float | None:
        """The newest reset that was told and still lies ahead."""
        return self._hint if self._hint is not None and self._hint > now else None

    def feed(self, line: bytes, now: float) -> list[Event]:
        """One line; the events of the attempts whose telling it ends."""
        text = jsonline.clean(line.decode("utf-8", "replace"))
        hint = failures.reset_hint(text, now)
        self._hint = self._hint if hint is None else hint
        events = []
        if (began := failures.attempt(text)) is not None:
            events += self._told(None, now)
            self._attempt = began
        delay = failures.retry_delay(text)
        if delay is not None or _BACKOFF in text:
            events += self._told(delay, now)
        return events

    def _told(self, delay: float | None, now: float) -> list[Event]:
        began, self._attempt = self._attempt, None
        if began is None:
            return []
        meta: dict[str, object] = {"attempt": began.number}
        if began.kind is not None:
            meta["failure"] = began.kind.value
        if began.status is not None:
            meta["status"] = began.status
        said = f"Attempt {began.number} failed"
        if delay is not None:
            meta.update(delayMs=int(delay * 1000), resetsAt=int(now + delay) + 1)
            said = f"{said}, next in {delay:.1f} s"
        return [Event(EventType.RETRY, said, meta)]
