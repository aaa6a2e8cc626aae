"""One HTTP request to a server that is not hub's.

Owns: the client: its time, its bounds, and to whom a login may go.
Must not: follow a redirect (it would take a login along), retry, or keep anything between two requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import attrs
import trio

_TIMEOUT = 15.0
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
    if place.scheme != "https" and not (place.scheme == "http" and place.hostname in _LOOPBACK):
        raise FetchError("a login goes over https, or nowhere")
    # 90 ms of import, in a thread: nobody waits for it.
    httpx = await trio.to_thread.run_sync(__import__, "httpx2")
    try:
        with trio.fail_after(_TIMEOUT):
            async with (
                httpx.AsyncClient(
                    follow_redirects=False, trust_env=place.hostname not in _LOOPBACK
                ) as client,
                client.stream(method, url, headers=dict(headers), content=body or None) as answer,
            ):
                data = bytearray()
                async for part in answer.aiter_bytes():
                    data += part
                    if len(data) > _LIMIT:
                        raise FetchError("the answer is too long")
                return Answer(
                    answer.status_code, bytes(data), _seconds(answer.headers.get("retry-after", ""))
                )
    except (httpx.HTTPError, httpx.InvalidURL, OSError, trio.TooSlowError) as error:
        raise FetchError(type(error).__name__) from error


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None  # noqa: PLR2004
