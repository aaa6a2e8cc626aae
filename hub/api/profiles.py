"""Profiles: named ways to work, and how each has done.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.base import Done
from hub.api.meta import UNSET, Label, Meta, ProviderName, Timestamp, Unset

MAX_NAMES = 64
MAX_HINT = 10_000
Words = Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=MAX_NAMES)]
Hint = Annotated[str, Meta(max_length=MAX_HINT)]


@attrs.frozen(kw_only=True)
class Profile:
    """A named way to work."""

    name: str
    chain: Annotated[list[str], "Providers, the first choice first."]
    kinds: list[str]
    skills: list[str]
    context_hint: str


@attrs.frozen(kw_only=True)
class ProfileOrder:
    """A profile to store, in the place of the one of its name; or to delete."""

    name: Label
    chain: Annotated[list[ProviderName], Meta(max_length=MAX_NAMES)] = attrs.field(factory=list)
    kinds: Words = attrs.field(factory=list)
    skills: Words = attrs.field(factory=list)
    context_hint: Hint = ""
    delete: bool = False


@attrs.frozen(kw_only=True)
class ProfileDone(Done):
    """The profile, as it is stored from here on, or its name alone where it was deleted."""

    name: str
    deleted: bool
    chain: list[str] | Unset = UNSET
    kinds: list[str] | Unset = UNSET
    skills: list[str] | Unset = UNSET
    context_hint: str | Unset = UNSET


@attrs.frozen(kw_only=True)
class ProfileOutcome:
    """How a profile has done. An average over nothing is null."""

    profile: str
    runs: int
    judged: Annotated[int, "Runs with a result: neither stopped nor without acceptance commands."]
    successes: Annotated[int, "Runs that the acceptance commands passed."]
    success_rate: Annotated[float | None, "Of the runs that were judged."]
    avg_tokens: float | None
    avg_cost_usd: Annotated[float | None, "Of the runs whose cost is known."]
    last_run: Timestamp | None
