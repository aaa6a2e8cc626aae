"""Why OpenCode stopped or waits: its error names, statuses and words -> failure class and reset.

Owns: the order in which its fields are believed, and which of its retries are worth waiting for.
Must not: keep state, or know what a name says (`hub.providers.vendors` does).

Order of belief: the error's name, which OpenCode gives to what it knows itself; then the words, for one status
stands for several things; then the HTTP status.

A retry is told at once, with the instant of the next attempt. That instant is the vendor's own `retry-after` where
there was one, else a back-off of 2 s, doubling to about 30 s; so only a longer wait tells a reset.

Tests: tests/hub/providers/opencode/test_opencode_stream.py
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.domain.failure import Failure, FailureClass
from hub.domain.quota.resets import parse_reset
from hub.providers import jsonline
from hub.providers.vendors import TYPES, of_status
from hub.providers.wording import Wording, failure

ABORTED = "MessageAbortedError"
OVERFLOW = "ContextOverflowError"
TOLD_WAIT = 60.0
"""Seconds: a longer wait than this is no back-off of the program's own but what the vendor told."""
WORDING = Wording()


@attrs.frozen
class Retry:
    """A retry that the server tells of."""

    attempt: int
    failure: Failure
    """Why; with the reset where the wait tells one."""
    wait: float
    """Seconds until the next attempt."""

    @property
    def hopeless(self) -> bool:
        """Whether waiting for it is no use: the vendor named a far instant, or said that all is used up."""
        limit = self.failure.kind is FailureClass.USAGE_LIMIT
        return self.wait > TOLD_WAIT or (limit and WORDING.used_up(self.failure.text))


def of_error(error: Mapping[str, object], now: float) -> Failure:
    """The failure of a `session.error`, or of a message's `error`."""
    name = jsonline.text(error.get("name"))
    data = jsonline.mapping(error.get("data"))
    said = jsonline.text(data.get("message")) or name or "an error without words"
    status = jsonline.integer(data.get("statusCode")) or 0
    body = jsonline.text(data.get("responseBody"))
    words = WORDING.of_error(said)
    kind = TYPES.get(name) or words or of_status(status) or WORDING.of_error(body) or FailureClass.UNKNOWN
    header = jsonline.text(jsonline.mapping(data.get("responseHeaders")).get("retry-after"))
    sources = (f"retry-after: {header}", said, body)  # the words are often less than the answer they are of
    resets = (parse_reset(source, now, None) for source in sources)
    return failure(kind, said, now, reset=next(filter(None, resets), None))


def retry(status: Mapping[str, object], now: float) -> Retry:
    """What a `session.status` of type `retry` tells."""
    action = jsonline.mapping(status.get("action"))
    words = [jsonline.text(status.get("message")), jsonline.text(action.get("message"))]
    said = " ".join(word for word in words if word)
    following = jsonline.number(status.get("next"))
    wait = max(0.0, following / 1000 - now) if following is not None else 0.0
    kind = WORDING.of_error(said) or FailureClass.OVERLOAD
    why = failure(kind, said, now, reset=now + wait if wait > TOLD_WAIT else None)
    return Retry(jsonline.count(status.get("attempt")), why, wait)
