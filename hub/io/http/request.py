"""One HTTP request to a server that is not hub's.

Owns: the client: its time, its bounds, and to whom a login may go.
Must not: follow a redirect (it would take a login along), retry, or keep anything between two requests.
Tests: tests/hub/actors/test_quota_poller.py
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlsplit

import attrs
import trio

_TIMEOUT = 15.0
"""Seconds for each step: to connect, to send, to hear something."""
_PATIENCE = 30.0
"""Seconds for all of it."""
_LIMIT = 1024 * 1024
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
    # In a thread, with the import of 90 ms: nobody waits for either. The client's asynchronous half leaves its
    # generators to the garbage collector when an answer is not read to its end, and Trio warns of that.
    ask = partial(_ask, method, url, dict(headers), body, trust_env=not near)
    with trio.move_on_after(_PATIENCE):
        return await trio.to_thread.run_sync(ask, abandon_on_cancel=True)
    raise FetchError("no answer in time")


def _ask(method: str, url: str, headers: dict[str, str], body: bytes, *, trust_env: bool) -> Answer:
    import httpx2  # noqa: PLC0415  # heavy, and most daemons ask nobody

    try:
        with (
            httpx2.Client(follow_redirects=False, trust_env=trust_env, timeout=_TIMEOUT) as client,
            client.stream(method, url, headers=headers, content=body or None) as answer,
        ):
            data = bytearray()
            for part in answer.iter_bytes():
                data += part
                if len(data) > _LIMIT:
                    raise FetchError("the answer is too long")
            return Answer(answer.status_code, bytes(data), _seconds(answer.headers.get("retry-after", "")))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise FetchError(type(error).__name__) from error


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None  # noqa: PLR2004
