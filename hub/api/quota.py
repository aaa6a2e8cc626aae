"""The quota wallet: what each account has left.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.meta import Timestamp
from hub.domain.quota import window
from hub.domain.quota.forecast import Outlook

Source = Annotated[
    window.Source,
    "Where the figures come from: what the agent said, a usage limit it met, its own files, its "
    "maker's server, a cap in hub.toml; or nobody told anything.",
]
Unit = Annotated[
    Literal["percent", "tokens", ""],
    "Of `remaining`, `total` and `burnPerMin`; tokens where the whole is known.",
]
Whole = Annotated[int | None, "null = nobody has told it."]
Share = Annotated[float | None, "0 to 1; null = nobody has told it."]
Instant = Annotated[Timestamp | None, "ISO 8601, UTC; null = not known."]
Rate = Annotated[float | None, "Of `unit`; null = too little was seen yet to tell."]
Minutes = Annotated[float | None, "Minutes from now; null = there is no forecast."]


@attrs.frozen(kw_only=True)
class Window:
    """One quota window. A figure that nobody told is null, and so is a forecast that is not there yet."""

    window: str
    remaining: Whole
    total: Whole
    unit: Unit
    fraction_used: Share
    resets_at: Instant
    source: Source
    read_at: Instant
    age_seconds: Whole
    burn_per_min: Rate
    eta_minutes: Minutes
    eta_low_minutes: Minutes
    eta_high_minutes: Minutes
    forecast: Outlook


@attrs.frozen(kw_only=True)
class MeterReading:
    """A moment at which a meter rose, and what it showed from then on."""

    at: Timestamp
    fraction_used: float


@attrs.frozen(kw_only=True)
class Burned:
    """What one session has spent with one model."""

    session_id: Annotated[str, '"" = agents that hub did not start.']
    model: Annotated[str, '"" = its agent has not said.']
    tokens: Annotated[int, "In and out, cached ones included."]


@attrs.frozen(kw_only=True)
class MeteredWindow(Window):
    """One quota window, how it was used up so far, and by whom."""

    rises: Annotated[
        list[MeterReading], "Since the window began, or hub first heard of it; the newest 64, oldest first."
    ]
    burned: Annotated[
        list[Burned], "Everything that the account spent since `burnedSince`, by whom; the most first."
    ]
    burned_since: Annotated[
        Timestamp,
        "When the window began, or hub first heard of it; later where hub no longer knows who spent what.",
    ]


@attrs.frozen(kw_only=True)
class Entry(Window):
    """One account's wall: the window that will end its work first; and every window it has."""

    provider: str
    account: str
    tokens_today: Annotated[int, "Tokens, in and out, that hub saw this account spend since midnight UTC."]
    tokens_elsewhere: Annotated[
        int, "Those of them that agents spent which hub did not start; read from their files."
    ]
    windows: list[MeteredWindow]
