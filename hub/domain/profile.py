"""What a profile says to the agents of a session.

Owns: those words.
Must not: choose who works (`hub.domain.routing` does).
"""

from __future__ import annotations

from collections.abc import Sequence


def guidance(name: str, hint: str, skills: Sequence[str]) -> str:
    """What every agent of a session is told besides its task, in the user's words; "" where the profile says nothing."""
    parts = [f"Context, from the user's profile {name}:\n\n{hint.strip()}"] if hint.strip() else []
    if skills:
        parts.append(f"Use these skills where you have them: {', '.join(skills)}.")
    return "\n\n".join(parts)
