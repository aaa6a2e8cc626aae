"""What tells agents how to work here.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.meta import Meta

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


@attrs.frozen(kw_only=True)
class Instruction:
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
