"""One HTTP request to a server that is not hub's.

Owns: the client: its time, its bounds, and to whom a login may go.
Must not: follow a redirect (it would take a login along), retry, or keep anything between two requests.
Tests: tests/hub/actors/quota/test_poller.py
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlsplit

import attrs
import trio

from hub import __version__

_TIMEOUT = 15.0
"""Seconds for each step: to connect, to send, to hear something."""
_PATIENCE = 30.0
"""Seconds for all of it."""
_LIMIT = 1024 * 1024
_NAME = f"hub/{__version__}"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class FetchError(Exception):
    """No answer came, or none that is taken."""


@attrs.frozen
class Answer:
    """What a server answered.

    Attributes:
        status: The HTTP status.
        body: At most 1 MiB.
        retry_after: Seconds to leave it alone, as it asks; None where it does not.
    """

    status: int
    body: bytes
    retry_after: float | None = None


async def fetch(method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
    """One request and its answer.

    Raises:
        FetchError: It could not be sent, took too long, answered too much, or the URL is neither https nor loopback.
    """
    place = urlsplit(url)
    near = place.hostname in _LOOPBACK
    if place.scheme != "https" and not (place.scheme == "http" and near):
        raise FetchError("a login goes over https, or nowhere")
    ask = partial(_ask, method, url, dict(headers), body, proxies={} if near else None)
    with trio.move_on_after(
        _PATIENCE
    ):  # in a thread: the standard library's client knows no other way to wait
        return await trio.to_thread.run_sync(ask, abandon_on_cancel=True)
    raise FetchError("no answer in time")


def _ask(
    method: str, url: str, headers: dict[str, str], body: bytes, *, proxies: dict[str, str] | None
) -> Answer:
    from http.client import HTTPException  # most daemons ask nobody
    from urllib import request  # as above

    class AsItIs(request.HTTPErrorProcessor):
        """Follows no redirect, and takes no status for an error."""

        def http_response(self, request: object, response: object) -> object:  # noqa: ARG002  # the library's signature
            return response

        https_response = http_response

    opener = request.build_opener(AsItIs, request.ProxyHandler(proxies))
    try:
        asked = request.Request(url, body or None, {"User-Agent": _NAME, **headers}, method=method)  # noqa: S310  # looked at above
        with opener.open(asked, timeout=_TIMEOUT) as answer:
            data = answer.read(_LIMIT + 1)
            status, later = answer.status, answer.headers.get("Retry-After", "")
    except (HTTPException, ValueError, OSError) as error:
        raise FetchError(type(error).__name__) from error
    if len(data) > _LIMIT:
        raise FetchError("the answer is too long")
    return Answer(status, data, _seconds(later))


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None  # noqa: PLR2004
