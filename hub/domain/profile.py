"""What the agents of a session are told besides their task: by its profile, and of the sessions before it.

Owns: those words.
Must not: choose who works (`hub.domain.routing` does).
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.domain.text import clean, clip

_MOST = 10
"""Sessions before this one that are told of, the newest."""
_LONG = 2000
"""Characters of what was asked for in each."""


def guidance(name: str, hint: str, skills: Sequence[str]) -> str:
    """What every agent of a session is told besides its task, in the user's words; "" where the profile says nothing."""
    parts = [f"Context, from the user's profile {name}:\n\n{hint.strip()}"] if hint.strip() else []
    if skills:
        parts.append(f"Use these skills where you have them: {', '.join(skills)}.")
    return "\n\n".join(parts)


def before(earlier: Sequence[str]) -> str:
    """What every agent of a session is told that goes on with others' work; "" where there was none before it.

    Args:
        earlier: What the user asked for, the oldest first.
    """
    if not earlier:
        return ""
    asked = "\n\n".join(
        f"> {clip(clean(task).strip(), _LONG)}".replace("\n", "\n> ") for task in earlier[-_MOST:]
    )
    return (
        "This goes on with earlier work: it is committed in this directory, and git shows it. "
        f"What its user asked for before, the oldest first:\n\n{asked}"
    )
