"""`GET /api/instructions`.

Owns: the shape of an instruction.
Must not: look for one.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from hub.domain.jsonvalue import JsonArray
from hub.errors import Code
from hub.web.backend import Backend
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


async def instructions(backend: Backend, _: NoQuery) -> JsonArray:
    """Instruction files, editor rules and skills that agents find here."""
    return await backend.instructions()


ROUTES = (
    get(
        "/api/instructions",
        instructions,
        answer=list[Instruction],
        codes=frozenset({Code.CONFIG_INVALID, Code.NO_PERMISSION}),
        foreign=True,
    ),
)
