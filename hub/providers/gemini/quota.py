"""Gemini CLI's quota besides its stream: its maker's quota endpoint; its store tells none.

Owns: `CLIENT`, and `SPENT`: the usage of a session's answers.
Must not: refresh a login; an expired one is the program's to renew.

The quota is one for each model, and begins anew each day: the models are windows here.
Tests: tests/hub/providers/test_quota_clients.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.quota.elsewhere import Used
from hub.domain.quota.window import FULL
from hub.providers import jsonline
from hub.providers.quota import QuotaClient, QuotaRequest, Share, SpentStore


def spent(line: Mapping[str, object], session: str) -> Used | None:
    """The answer of a message. It is written again with its tool calls; thoughts are output that is told by itself."""
    used, at = jsonline.mapping(line.get("tokens")), jsonline.instant(line.get("timestamp"))
    tokens = sum(jsonline.count(used.get(kind)) for kind in ("input", "output", "thoughts"))
    if line.get("type") != "gemini" or at is None or not tokens:
        return None
    return Used(jsonline.text(line.get("id")), at, tokens)


def request(login: bytes, url: str, now: float) -> QuotaRequest | None:
    """The quota request; None without a Google login, or when it has expired."""
    found = jsonline.read(login) or {}
    token, expires = jsonline.text(found.get("access_token")), jsonline.number(found.get("expiry_date"))
    if not token or (expires is not None and expires / 1000 <= now):
        return None
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return QuotaRequest(f"{url}/v1internal:retrieveUserQuota", "POST", headers, b"{}")


def answer(body: Mapping[str, object]) -> Sequence[Share]:
    """One window for each model."""
    found = []
    for bucket in map(jsonline.mapping, jsonline.items(body.get("buckets"))):
        left, model = jsonline.number(bucket.get("remainingFraction")), jsonline.text(bucket.get("modelId"))
        if left is not None and 0 <= left <= 1 and model:
            found.append(
                Share(f"day:{model}", round((1 - left) * FULL), jsonline.instant(bucket.get("resetTime")))
            )
    return found


CLIENT = QuotaClient(
    home="",
    credentials=".gemini/oauth_creds.json",
    url="https://cloudcode-pa.googleapis.com",
    request=request,
    answer=answer,
)
SPENT = SpentStore(mark=b'"tokens"', answer=spent)
