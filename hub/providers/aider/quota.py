"""Aider's quota besides its stream: what OpenRouter tells of its key. Aider keeps none itself.

Owns: `CLIENT`.
Must not: look for a key elsewhere than where Aider reads one: the `.env` of the account, or of the home directory.

A usage limit that Aider meets is in its stream; the history it keeps tells neither when that was nor for how long. For
any other maker's key a cap declared in `hub.toml` is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hub.providers import openrouter
from hub.providers.quota import QuotaClient, Request, Share


def record(line: Mapping[str, Any]) -> Sequence[Share]:  # noqa: ARG001 - the client's signature
    """Nothing: its history holds words alone."""
    return ()


def request(login: bytes, url: str, now: float) -> Request | None:  # noqa: ARG001 - the client's signature
    """The question about the key in Aider's `.env`; None where that has none of OpenRouter's."""
    return openrouter.request(openrouter.key_in(login), url)


CLIENT = QuotaClient(
    home="",
    store="",
    mark=b"",
    record=record,
    credentials=".env",
    url=openrouter.URL,
    request=request,
    answer=openrouter.answer,
)
