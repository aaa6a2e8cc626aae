"""`GET /api/instructions`.

Owns: the routes, and what is done besides one call.
Must not: look for one.
"""

from __future__ import annotations

from pathlib import Path

import trio

from hub.api.base import Nothing
from hub.api.instructions import Instruction
from hub.errors import Code
from hub.io.project.instructions import instructions
from hub.messages import GetConfig
from hub.web.context import Context
from hub.web.route import get


async def listed(context: Context, _: Nothing) -> list[Instruction]:
    """Of the project and of the user, and the skills the profiles name."""
    config = await context.call(GetConfig())
    return await trio.to_thread.run_sync(instructions, context.places.root, Path.home(), config.profiles)


ROUTES = (
    get(
        "/api/instructions",
        "Instruction files, editor rules and skills that agents find here.",
        listed,
        answer=list[Instruction],
        codes=frozenset({Code.CONFIG_INVALID, Code.NO_PERMISSION}),
        foreign=True,
    ),
)
