"""What tells agents how to work here.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.domain.trust.instruction import InstructionKind


@attrs.frozen(kw_only=True)
class Instruction:
    """One file, rule or skill that tells agents how to work."""

    path: Annotated[str, 'In the project, or from ~/; "" = a skill that a profile names and no file holds.']
    kind: InstructionKind
    title: str
    scope: Annotated[str, "`project`, `user`, a folder, or `profile:<name>`."]
    bytes: int
    sha256: Annotated[str, '"" = too large to read.']
