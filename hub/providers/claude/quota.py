"""Claude Code's quota besides its stream: limits met in its transcripts, and its maker's usage endpoint.

Owns: `CLIENT`, and `SPENT`: the usage of a transcript's answers included.
Must not: refresh a login; an expired one is the program's to renew.

The endpoint tells percents (0..100) where stream and headers tell shares (0..1), and is documented nowhere.
Tests: tests/hub/providers/test_quota_clients.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.quota.elsewhere import Used
from hub.domain.quota.window import FULL
from hub.providers import jsonline
from hub.providers.quota import QuotaClient, QuotaRequest, Share, SpentStore, permille

_TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def record(line: Mapping[str, object]) -> Sequence[Share]:
    """The window that a usage limit in a transcript filled."""
    info = jsonline.mapping(jsonline.mapping(line.get("apiErrorParams")).get("rate_limit_info"))
    window, resets_at = jsonline.text(info.get("rateLimitType")), jsonline.instant(info.get("resetsAt"))
    if info.get("status") != "rejected" or not window or resets_at is None:
        return ()
    return (Share(window, FULL, resets_at, jsonline.instant(line.get("timestamp"))),)


def spent(line: Mapping[str, object], _session: str) -> Used | None:
    """The answer of an assistant's record. Several records have one answer, and a fork of the session has it again."""
    message, at = jsonline.mapping(line.get("message")), jsonline.instant(line.get("timestamp"))
    usage = jsonline.mapping(message.get("usage"))
    tokens = sum(jsonline.count(usage.get(name)) for name in _TOKENS)
    if line.get("type") != "assistant" or at is None or not tokens:
        return None
    name = jsonline.text(message.get("id")) or jsonline.text(line.get("uuid"))
    return Used(f"{name}:{jsonline.text(line.get('requestId'))}", at, tokens)


def request(login: bytes, url: str, now: float) -> QuotaRequest | None:
    """The usage request; None without a login of a subscription, or when it has expired."""
    found = jsonline.mapping((jsonline.read(login) or {}).get("claudeAiOauth"))
    token, expires = jsonline.text(found.get("accessToken")), jsonline.number(found.get("expiresAt"))
    if not token or (expires is not None and expires / 1000 <= now):
        return None
    headers = {"Authorization": f"Bearer {token}", "anthropic-beta": "oauth-2025-04-20"}
    return QuotaRequest(f"{url}/api/oauth/usage", headers=headers)


def answer(body: Mapping[str, object]) -> Sequence[Share]:
    """Every window of the answer that tells a share."""
    found = []
    for name, window in body.items():
        state = jsonline.mapping(window)
        used = permille(state.get("utilization"))
        if used is not None and "resets_at" in state:
            found.append(Share(jsonline.clean(name), used, jsonline.instant(state["resets_at"])))
    return found


CLIENT = QuotaClient(
    home=".claude",
    store="projects",
    mark=b"rate_limit_info",
    record=record,
    credentials=".credentials.json",
    url="https://api.anthropic.com",
    request=request,
    answer=answer,
)
SPENT = SpentStore(mark=b'"usage":', answer=spent, beside="subagents")
