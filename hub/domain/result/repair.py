"""What an agent is told whose work the acceptance commands refused.

Owns: those words, and how much of a command's output is in them.
Must not: decide how often an agent is asked, or redact (who gives the output has done so).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from hub.domain.text.safe import clean

MOST: Final = 8192
"""Bytes of the commands' output, all together."""
_HEAD = (
    "You said that the task is done, but hub ran its acceptance commands in the working directory, and they failed. "
    "Find the cause and correct it. Leave the commands and what they check as they are. When you are done, hub runs "
    "them again."
)
_MISSING = "It ended with no output."


@attrs.frozen
class Refused:
    """One command that failed."""

    command: str
    exit_code: int | None
    """None: hub or a signal ended it."""
    output: str
    """Without secrets."""


def correction(refused: Sequence[Refused]) -> str:
    """The prompt for another try: each command, how it ended, and the end of its output."""
    share = MOST // max(1, len(refused))
    parts = [f"$ {one.command}\n({_how(one)})\n{_end(clean(one.output), share)}" for one in refused]
    return "\n\n".join([_HEAD, *parts])


def _how(one: Refused) -> str:
    return "it was ended, for it took too long" if one.exit_code is None else f"exit status {one.exit_code}"


def _end(text: str, most: int) -> str:
    """The last lines of a text that fit; errors tend to stand at the end."""
    text = text.strip()
    if not text:
        return _MISSING
    data = text.encode()
    if len(data) <= most:
        return text
    return data[-most:].decode("utf-8", "ignore").partition("\n")[2] or data[-most:].decode("utf-8", "ignore")
