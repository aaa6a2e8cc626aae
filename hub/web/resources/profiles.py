"""Profiles: named ways to work, and how each has done.

Owns: the routes, and what is done besides one call.
Must not: decide what a profile may be.
"""

from __future__ import annotations

from hub.api.convert import unstructure
from hub.api.profiles import Profile, ProfileDone, ProfileOrder, ProfileOutcome
from hub.errors import Code
from hub.messages import GetOutcomes, GetProfiles, PutProfile, RemoveProfile
from hub.web.context import WRITE, Context, call
from hub.web.route import get, post


async def change(context: Context, body: ProfileOrder) -> ProfileDone:
    """Those of `hub.toml` are changed there."""
    if body.delete:
        return await context.call(RemoveProfile(body.name), timeout=WRITE)
    given = {key: value for key, value in unstructure(body).items() if key != "delete"}
    return await context.call(PutProfile(given), timeout=WRITE)


_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID, Code.STATE_CORRUPT, Code.NOT_SEALED})
ROUTES = (
    get(
        "/api/profiles",
        "The profiles: those of `hub.toml`, then the stored ones.",
        call(GetProfiles),
        answer=list[Profile],
        codes=_FILES,
        foreign=True,  # an agent asks for them too, by the tool server
    ),
    post(
        "/api/profiles",
        "Store a profile, or delete it; those of `hub.toml` are changed there.",
        change,
        given=ProfileOrder,
        answer=ProfileDone,
        codes=_FILES | {Code.NOT_FOUND},
    ),
    get("/api/outcomes", "How each profile has done.", call(GetOutcomes), answer=list[ProfileOutcome]),
)
