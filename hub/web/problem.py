"""Errors on the wire: any exception -> one RFC 9457 problem document.

Owns: the mapping from what a handler raises to status, headers and body.
Must not: let a traceback, an exception's class or an unredacted text into a body.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import msgspec
import trio

from hub.domain.text.safe import clean
from hub.errors import Code, HubError
from hub.installed import install_broken, outdated, replaced
from hub.io.shortage import shortage
from supervisors import ActorDied, Exit

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 1
"""Seconds: an actor is back within one, or its supervisor is giving up."""

Redact = Callable[[Any], Any]
"""Hides what is secret in a text or a JSON value; must bear to be called in a worker thread."""

_log = logging.getLogger("hub.web")


def as_hub_error(error: Exception) -> HubError:
    """The coded error a client is told for `error`; what is not foreseen becomes `internal` and is logged."""
    match error:
        case (HubError() as why) | ActorDied(
            exit=Exit(error=HubError() as why)
        ):  # as of a record it cannot read
            return why
        case ActorDied():
            return HubError(Code.UNAVAILABLE)
        case trio.TooSlowError():
            return HubError(Code.TIMEOUT)
        case ImportError():
            return install_broken(error)
        case _ if short := shortage(error):
            return short
        case _:
            _log.error("unforeseen error in a request", exc_info=error)
            return outdated() if replaced() else HubError(Code.INTERNAL)


@attrs.frozen
class WholeResponse:
    """A response whose body is known whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers as ASGI wants them, the length included."""
        pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in self.headers.items()]
        return [*pairs, (b"content-length", str(len(self.body)).encode())]


def as_it_is(value: object) -> object:
    """Hides nothing."""
    return value


def problem(
    error: HubError, *, redact: Redact = as_it_is, headers: Mapping[str, str] | None = None
) -> WholeResponse:
    """The problem document of `error`, every text in it plain and redacted."""
    more = {"Retry-After": str(RETRY_AFTER)} if error.code is Code.UNAVAILABLE else {}
    return WholeResponse(
        status=error.status,
        headers={"Content-Type": MEDIA_TYPE, **more, **(headers or {})},
        body=msgspec.json.encode(redacted(error, redact).problem()),
    )


def redacted(error: HubError, redact: Redact) -> HubError:
    """The error as a client is told of it: every text in it plain and redacted."""
    members = _hidden({"detail": error.detail, "hint": error.hint, **error.extra}, redact)
    return HubError(error.code, **members)


def _hidden(value: object, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(clean(value))
    if isinstance(value, Mapping):
        return {key: _hidden(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(item, redact) for item in value]
    return value
