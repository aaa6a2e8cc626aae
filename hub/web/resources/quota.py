"""`GET /api/quota/wallet`.

Owns: the shape of a wallet entry.
Must not: compute any of it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from hub.domain.quota.forecast import Outlook
from hub.web.backend import Backend, JsonArray
from hub.web.route import NoQuery, get
from hub.web.schema import Answer, Timestamp

Source = Annotated[
    Literal["stream", "limit", "store", "endpoint", "declared", "none"],
    Meta(
        description="Where the figures come from: what the agent said, a usage limit it met, its own files, its "
        "maker's server, a cap in hub.toml; or nobody told anything."
    ),
]
Unit = Annotated[
    Literal["percent", "tokens", ""],
    Meta(description="Of `remaining`, `total` and `burnPerMin`; tokens where the whole is known."),
]
Minutes = Annotated[float, Meta(description="Minutes from now.")]


class Window(Answer, frozen=True, kw_only=True):
    """One quota window. A figure that nobody told is null, and so is a forecast that is not there yet."""

    window: str
    remaining: int | None
    total: int | None
    unit: Unit
    fraction_used: float | None
    resets_at: Timestamp | None
    source: Source
    read_at: Timestamp | None
    age_seconds: int | None
    burn_per_min: float | None
    eta_minutes: Minutes | None
    eta_low_minutes: Minutes | None
    eta_high_minutes: Minutes | None
    forecast: Outlook


class Entry(Window, frozen=True, kw_only=True):
    """One account's wall: the window that will end its work first; and every window it has."""

    provider: str
    account: str
    tokens_today: Annotated[
        int, Meta(description="Tokens, in and out, that hub saw this account spend since midnight UTC.")
    ]
    tokens_elsewhere: Annotated[
        int,
        Meta(description="Those of them that agents spent which hub did not start; read from their files."),
    ]
    windows: list[Window]


async def wallet(backend: Backend, _: NoQuery) -> JsonArray:
    """What every account has left, and when its wall is expected."""
    return await backend.quota_wallet()


ROUTES = (get("/api/quota/wallet", wallet, answer=list[Entry]),)
