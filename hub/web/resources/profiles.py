"""How agents are to work: profiles and how each has done, and the instruction files that they find here.

Owns: the routes, and what is done besides one call.
Must not: decide what a profile may be, or look for an instruction.
"""

from __future__ import annotations

from pathlib import Path

import trio

from hub.api.base import Nothing
from hub.api.convert import unstructure
from hub.api.instructions import Instruction
from hub.api.profiles import Profile, ProfileDone, ProfileOrder, ProfileOutcome
from hub.errors import Code
from hub.io.project.instructions import instructions
from hub.messages.outcomes import GetOutcomes
from hub.messages.settings import GetConfig, GetProfiles, PutProfile, RemoveProfile
from hub.web.context import WRITE, Context, call
from hub.web.route import get, post


async def change(context: Context, body: ProfileOrder) -> ProfileDone:
    """Those of `hub.toml` are changed there."""
    if body.delete:
        return await context.call(RemoveProfile(body.name), timeout=WRITE)
    given = {key: value for key, value in unstructure(body).items() if key != "delete"}
    return await context.call(PutProfile(given), timeout=WRITE)


async def listed(context: Context, _: Nothing) -> list[Instruction]:
    """Of the project and of the user, and the skills the profiles name."""
    config = await context.call(GetConfig())
    return await trio.to_thread.run_sync(instructions, context.places.root, Path.home(), config.profiles)


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
        codes=_FILES | {Code.NOT_FOUND},
    ),
    get("/api/outcomes", "How each profile has done.", call(GetOutcomes), answer=list[ProfileOutcome]),
    get(
        "/api/instructions",
        "Instruction files, editor rules and skills that agents find here.",
        listed,
        codes=frozenset({Code.CONFIG_INVALID, Code.NO_PERMISSION}),
        foreign=True,
    ),
)
