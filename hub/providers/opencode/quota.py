"""OpenCode's quota besides its stream: what OpenRouter tells of the key OpenCode was given.

Owns: `CLIENT`.
Must not: look for a key elsewhere than in OpenCode's own login file.

Its database holds tokens and costs, and no quota of anybody's. A usage limit that it meets is in its stream, with the
reset where the maker told one. For any other maker's key a cap declared in `hub.toml` is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hub.providers import jsonline, openrouter
from hub.providers.quota import QuotaClient, Request, Share, document

_MAKER = "openrouter"


def record(line: Mapping[str, Any]) -> Sequence[Share]:  # noqa: ARG001 - the client's signature
    """Nothing: its sessions tell what was used, not of how much."""
    return ()


def request(login: bytes, url: str, now: float) -> Request | None:  # noqa: ARG001 - the client's signature
    """The question about OpenRouter's key in the login file; None where OpenCode has none."""
    found = jsonline.mapping(document(login).get(_MAKER))
    return openrouter.request(jsonline.text(found.get("key")), url)


CLIENT = QuotaClient(
    home=".local/share",
    account="data",
    store="",
    mark=b"",
    record=record,
    credentials="opencode/auth.json",
    url=openrouter.URL,
    request=request,
    answer=openrouter.answer,
)
