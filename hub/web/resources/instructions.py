"""`GET /api/instructions`.

Owns: the shape of an instruction.
Must not: look for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import trio
from msgspec import Meta

from hub.domain.jsonvalue import JsonArray
from hub.errors import Code
from hub.io.instructions import instructions
from hub.messages import GetConfig
from hub.web.context import Context
from hub.web.route import NoQuery, get
from hub.web.schema import Answer

Kind = Literal[
    "agents_md",
    "claude_md",
    "gemini_md",
    "cursor_rule",
    "copilot_instructions",
    "editor_rule",
    "skill",
    "profile_skill",
]


class Instruction(Answer, frozen=True, kw_only=True):
    """One file, rule or skill that tells agents how to work."""

    path: Annotated[
        str,
        Meta(description='In the project, or from ~/; "" = a skill that a profile names and no file holds.'),
    ]
    kind: Kind
    title: str
    scope: Annotated[str, Meta(description="`project`, `user`, a folder, or `profile:<name>`.")]
    bytes: int
    sha256: Annotated[str, Meta(description='"" = too large to read.')]


async def listed(context: Context, _: NoQuery) -> JsonArray:
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
