"""Codex's quota besides its stream: the token counts in its rollouts, and its maker's usage endpoint.

Owns: `CLIENT`, and `SPENT`: the usage of a rollout's answers included.
Must not: refresh a login; an expired one is the program's to renew.

`codex exec` tells no quota in its stream, but writes it into its rollout with every answer.
Tests: tests/hub/providers/test_quota_clients.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.quota.elsewhere import Used
from hub.providers import jsonline
from hub.providers.codex.windows import window_name
from hub.providers.quota import QuotaClient, QuotaRequest, Share, SpentStore, permille

_MINUTE = 60


def record(line: Mapping[str, object]) -> Sequence[Share]:
    """The windows of a rollout's `token_count`."""
    payload = jsonline.mapping(line.get("payload"))
    limits = jsonline.mapping(payload.get("rate_limits"))
    at = jsonline.instant(line.get("timestamp"))
    if payload.get("type") != "token_count" or at is None:
        return ()
    limit = jsonline.text(limits.get("limit_id"))
    found = []
    for slot in ("primary", "secondary"):
        state = jsonline.mapping(limits.get(slot))
        used, minutes = permille(state.get("used_percent")), jsonline.integer(state.get("window_minutes"))
        if used is not None:
            name = window_name(slot, minutes, limit)
            found.append(Share(name, used, jsonline.instant(state.get("resets_at")), at))
    return found


def spent(line: Mapping[str, object], session: str) -> Used | None:
    """The answer of a `token_count`. One is written again where only the limits have changed; the sum tells."""
    payload, at = jsonline.mapping(line.get("payload")), jsonline.instant(line.get("timestamp"))
    info = jsonline.mapping(payload.get("info"))
    last, whole = (jsonline.mapping(info.get(f"{name}_token_usage")) for name in ("last", "total"))
    tokens = jsonline.count(last.get("input_tokens")) + jsonline.count(last.get("output_tokens"))
    if payload.get("type") != "token_count" or at is None or not tokens:
        return None
    sums = (jsonline.count(whole.get(f"{name}_tokens")) for name in ("input", "output"))
    return Used(f"{session}:{':'.join(map(str, sums))}", at, tokens)


def request(login: bytes, url: str, now: float) -> QuotaRequest | None:
    """The usage request; None without a ChatGPT login: an API key has no such quota."""
    tokens = jsonline.mapping((jsonline.read(login) or {}).get("tokens"))
    token, account = jsonline.text(tokens.get("access_token")), jsonline.text(tokens.get("account_id"))
    if not token:
        return None
    headers = {"Authorization": f"Bearer {token}"}
    return QuotaRequest(
        f"{url}/backend-api/wham/usage",
        headers={**headers, "ChatGPT-Account-Id": account} if account else headers,
    )


def answer(body: Mapping[str, object]) -> Sequence[Share]:
    """The windows of the answer."""
    limits = jsonline.mapping(body.get("rate_limit"))
    found = []
    for slot in ("primary", "secondary"):
        state = jsonline.mapping(limits.get(f"{slot}_window"))
        used, seconds = (
            permille(state.get("used_percent")),
            jsonline.integer(state.get("limit_window_seconds")),
        )
        if used is not None:
            name = window_name(slot, None if seconds is None else seconds // _MINUTE)
            found.append(Share(name, used, jsonline.instant(state.get("reset_at"))))
    return found


CLIENT = QuotaClient(
    home=".codex",
    store="sessions",
    mark=b'"rate_limits"',
    record=record,
    credentials="auth.json",
    url="https://chatgpt.com",
    request=request,
    answer=answer,
)
SPENT = SpentStore(mark=b'"token_count"', answer=spent)
