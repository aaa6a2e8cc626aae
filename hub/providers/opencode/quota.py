"""OpenCode's quota besides its stream: what OpenRouter tells of the key OpenCode was given.

Owns: `CLIENT`.
Must not: look for a key elsewhere than in OpenCode's own login file.

Its database holds tokens and costs, and no quota of anybody's. A usage limit that it meets is in its stream, with the
reset where the maker told one. For any other maker's key a cap declared in `hub.toml` is all there is.

Tests: tests/hub/providers/test_quota_clients.py
"""

from __future__ import annotations

from hub.providers import jsonline, openrouter
from hub.providers.quota import document


def _key(login: bytes) -> str:
    return jsonline.text(jsonline.mapping(document(login).get("openrouter")).get("key"))


CLIENT = openrouter.client(_key, home=".local/share", account="data", credentials="opencode/auth.json")
