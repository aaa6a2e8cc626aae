"""Profiles: named ways to work, and how each has done.

Owns: the shapes of both.
Must not: decide what a profile may be.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from hub.domain.jsonvalue import JsonObject
from hub.errors import Code
from hub.messages import GetOutcomes, GetProfiles, PutProfile, RemoveProfile
from hub.web.context import WRITE, Context, call
from hub.web.resources.pipelines import Label
from hub.web.resources.providers import ProviderName
from hub.web.route import get, post
from hub.web.schema import Answer, Body, Done, Timestamp

MAX_NAMES = 64
MAX_HINT = 10_000

Words = Annotated[
    list[Annotated[str, Meta(max_length=200, pattern=r"^[^\u0000]*$(?!\n)")]], Meta(max_length=MAX_NAMES)
]
Hint = Annotated[str, Meta(max_length=MAX_HINT, pattern=r"^[^\u0000]*$(?!\n)")]


class Profile(Answer, frozen=True, kw_only=True):
    """A named way to work."""

    name: str
    chain: Annotated[list[str], Meta(description="Providers, the first choice first.")]
    kinds: list[str]
    skills: list[str]
    context_hint: str


class ProfileOrder(Body, frozen=True, kw_only=True):
    """A profile to store, in the place of the one of its name; or to delete."""

    name: Label
    chain: Annotated[list[ProviderName], Meta(max_length=MAX_NAMES)] = msgspec.field(default_factory=list)
    kinds: Words = msgspec.field(default_factory=list)
    skills: Words = msgspec.field(default_factory=list)
    context_hint: Hint = ""
    delete: bool = False


class ProfileDone(Done, frozen=True, kw_only=True):
    """The profile, as it is stored from here on, or its name alone where it was deleted."""

    name: str
    deleted: bool
    chain: list[str] = msgspec.field(default_factory=list)
    kinds: list[str] = msgspec.field(default_factory=list)
    skills: list[str] = msgspec.field(default_factory=list)
    context_hint: str = ""


class ProfileOutcome(Answer, frozen=True, kw_only=True):
    """How a profile has done. An average over nothing is null."""

    profile: str
    runs: int
    judged: Annotated[
        int, Meta(description="Runs with a result: neither stopped nor without acceptance commands.")
    ]
    successes: Annotated[int, Meta(description="Runs that the acceptance commands passed.")]
    success_rate: Annotated[float | None, Meta(description="Of the runs that were judged.")]
    avg_tokens: float | None
    avg_cost_usd: Annotated[float | None, Meta(description="Of the runs whose cost is known.")]
    last_run: Timestamp | None


async def change(context: Context, body: ProfileOrder) -> JsonObject:
    """Those of `hub.toml` are changed there."""
    if body.delete:
        return {"deleted": True, **await context.call(RemoveProfile(body.name), timeout=WRITE)}
    given = {key: value for key, value in msgspec.to_builtins(body).items() if key != "delete"}
    return {"deleted": False, **await context.call(PutProfile(given), timeout=WRITE)}


_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID, Code.STATE_CORRUPT, Code.NOT_SEALED})

ROUTES = (
    get(
        "/api/profiles",
        "The profiles: those of `hub.toml`, then the stored ones.",
        call(GetProfiles),
        answer=list[Profile],
        codes=_FILES,
    ),
    post(
        "/api/profiles",
        "Store a profile, or delete it; those of `hub.toml` are changed there.",
        change,
        body=ProfileOrder,
        answer=ProfileDone,
        codes=_FILES | {Code.NOT_FOUND},
    ),
    get("/api/outcomes", "How each profile has done.", call(GetOutcomes), answer=list[ProfileOutcome]),
)
