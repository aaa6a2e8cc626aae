"""OpenRouter's word on a key: what is left of the limit its owner gave it.

Owns: the request with a key that an agent has, and the reading of the answer.
Must not: know which agent asks; those that work with such a key have it in their `quota.py`.

Both agents that hub runs with keys of many makers keep no quota of their own, and of the makers this one alone tells a
key what is left to it. https://openrouter.ai/docs/api-reference/limits

Tests: tests/hub/providers/test_quota_clients.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from hub.domain.quota.window import FULL
from hub.providers import jsonline
from hub.providers.quota import QuotaClient, QuotaRequest, Share

URL = "https://openrouter.ai"
VARIABLE = "OPENROUTER_API_KEY"
_LINE = re.compile(
    rb"^[ \t]*(?:export[ \t]+)?"
    + VARIABLE.encode()
    + rb"[ \t]*=[ \t]*([\"']?)([\x21-\x7e]{8,512}?)\1[ \t]*(?:#.*)?\r?$",
    re.MULTILINE,
)


def key_in(variables: bytes) -> str:
    """The key in the text of a file of variables, as a shell reads it: the last one counts; "" for none."""
    found = _LINE.findall(variables)
    return found[-1][1].decode("ascii") if found else ""


def client(key: Callable[[bytes], str], *, home: str, credentials: str, account: str = "") -> QuotaClient:
    """The quota client of an agent that keeps no quota itself; `key` finds the maker's key in the bytes of its login."""

    def request(login: bytes, url: str, now: float) -> QuotaRequest | None:
        """The question what is left to the key; None without one."""
        found = key(login)
        return (
            QuotaRequest(f"{url}/api/v1/key", headers={"Authorization": f"Bearer {found}"}) if found else None
        )

    return QuotaClient(
        home=home,
        account=account,
        credentials=credentials,
        url=URL,
        request=request,
        answer=answer,
    )


def answer(body: Mapping[str, object]) -> Sequence[Share]:
    """The key's limit, a window named after its period; nothing for a key without a limit."""
    data = jsonline.mapping(body.get("data"))
    limit, left = jsonline.number(data.get("limit")), jsonline.number(data.get("limit_remaining"))
    if limit is None or left is None or limit <= 0:
        return ()
    used = min(max(round((1 - left / limit) * FULL), 0), FULL)
    period = jsonline.text(data.get("limit_reset"))
    return (Share(f"credit:{jsonline.clean(period)}" if period else "credit", used),)
