"""Aider's quota besides its stream: what OpenRouter tells of its key. Aider keeps none itself.

Owns: `CLIENT`.
Must not: look for a key elsewhere than where Aider reads one: the `.env` of the account, or of the home directory.

A usage limit that Aider meets is in its stream; the history it keeps tells neither when that was nor for how long. For
any other maker's key a cap declared in `hub.toml` is all there is.

Tests: tests/hub/providers/test_quota_clients.py
"""

from hub.providers import openrouter

CLIENT = openrouter.client(openrouter.key_in, home="", credentials=".env")
